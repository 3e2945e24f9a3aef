package http_test

import (
	"context"
	"crypto/sha256"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest/processes"
	"github.com/troupe-api/troupe/policy/audit"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// A scriptedConn simulates a client that sends a request after each response. It checks only the
// first bytes of each response.
type scriptedConn struct {
	request   []byte
	remaining int
	unsent    []byte // rest of the current request
	failure   []byte // an unsuccessful response
	// answered means that the first bytes of the current response have been written.
	answered bool
	done     chan struct{}
}

func (s *scriptedConn) Read(b []byte) (int, error) {
	if len(s.unsent) == 0 {
		if s.remaining == 0 {
			return 0, io.EOF
		}
		s.remaining--
		s.answered = false
		s.unsent = s.request
	}
	n := copy(b, s.unsent)
	s.unsent = s.unsent[n:]
	return n, nil
}

func (s *scriptedConn) Write(b []byte) (int, error) {
	if begins := !s.answered; begins && (len(b) < 10 || string(b[:10]) != "HTTP/1.1 2") {
		s.failure = append([]byte(nil), b...)
	}
	s.answered = true
	return len(b), nil
}

func (s *scriptedConn) Close() error                     { close(s.done); return nil }
func (s *scriptedConn) LocalAddr() net.Addr              { return loopback }
func (s *scriptedConn) RemoteAddr() net.Addr             { return loopback }
func (s *scriptedConn) SetDeadline(time.Time) error      { return nil }
func (s *scriptedConn) SetReadDeadline(time.Time) error  { return nil }
func (s *scriptedConn) SetWriteDeadline(time.Time) error { return nil }

var loopback = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}

type chanListener struct{ conns chan net.Conn }

func (s chanListener) Accept() (net.Conn, error) {
	if c, ok := <-s.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (s chanListener) Close() error { return nil }

func (s chanListener) Addr() net.Addr { return loopback }

type staticStore struct {
	http.Store
	object *meta.Object
}

func (s staticStore) Get(context.Context, request.Get) (*meta.Object, error) { return s.object, nil }

const listLength = 500

func (s staticStore) List(context.Context, request.List) (request.ListResult, error) {
	l := request.ListResult{Version: 11, Items: make([]*meta.Object, listLength), Remaining: -1}
	for n := range l.Items {
		l.Items[n] = s.object
	}
	return l, nil
}

func (s staticStore) Mutate(_ context.Context, m request.Mutation) (request.Result, error) {
	return request.Result{Object: s.object, Created: request.Is[request.Create](&m)}, nil
}

func (staticStore) History(context.Context, request.History) (request.HistoryResult, error) {
	return request.HistoryResult{}, nil
}

func (s staticStore) NoOpApply(_ request.Mutation, digest func() meta.Digest) (request.Result, bool) {
	digest()
	return request.Result{Object: s.object}, true
}

// tokenDigests finds users by token digest, as the daemon does.
type tokenDigests map[[sha256.Size]byte]*authn.User

func (k tokenDigests) Authenticate(r authn.Request) (*authn.User, error) {
	return k[sha256.Sum256([]byte(r.Token))], nil
}

const (
	benchObject = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default","uid":"0b1d9c52-5a5d-4a39-8a3e-0f7f6f2a3a11","resourceVersion":"11"},"data":{"k":"`
	benchHead   = " HTTP/1.1\r\nHost: 127.0.0.1:6443\r\nUser-Agent: kubectl/v1.35.0 (linux/amd64)\r\n" +
		"Accept: application/json, */*\r\nAuthorization: Bearer 31ada4fd-adec-460c-809a-9e56ceb75269\r\nAccept-Encoding: gzip\r\n"
)

// benchmarkRequest measures the CPU time of a request in this package, without TLS, system calls
// and the store. CPU time depends least on other load on the machine.
func benchmarkRequest(b *testing.B, text string) {
	b.Helper()
	user := &authn.User{Name: "jane", Groups: []string{authn.GroupMasters}}
	users := tokenDigests{sha256.Sum256([]byte("31ada4fd-adec-460c-809a-9e56ceb75269")): user}
	policy := audit.NewPolicy(tree.Tree{"omitStages": []any{"RequestReceived"}, "rules": []any{tree.Tree{"level": "Metadata"}}})
	s := chanListener{make(chan net.Conn, 1)}
	server := must.Get(http.New(http.Options{
		Naming: meta.Platform, Catalog: testCatalog(), Listener: s, Version: "0.1.0",
		Store:         staticStore{object: &meta.Object{ItemOffset: len(`{"kind":"ConfigMap","apiVersion":"v1",`), JSON: []byte(benchObject + strings.Repeat("x", 1024) + `"}}`)}},
		Authenticator: authn.Authenticated(authn.Anonymous(authn.Bearer(authn.Union(), authn.Union(users)))),
		Authorizer:    authz.Union(authz.Masters{}, authz.AlwaysAllowPaths{"/healthz", "/healthz/*", "/livez", "/livez/*", "/readyz", "/readyz/*"}),
		Audit:         audit.New(policy, meta.Platform, time.Now, audit.NewLog(io.Discard, audit.SinkOptions{Mode: audit.Blocking})),
	}))(b)
	go func() { _ = server.Serve() }() // ends with the listener
	defer close(s.conns)
	run := func(n int) {
		c := &scriptedConn{request: []byte(text), remaining: n, done: make(chan struct{})}
		s.conns <- c
		<-c.done
		if c.failure != nil {
			b.Fatalf("answered %q", c.failure)
		}
	}
	run(100)
	b.ReportAllocs()
	b.ResetTimer()
	before := cpuTime(b)
	run(b.N)
	b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/1e3/float64(b.N), "µs-cpu/op")
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	return must.Get(processes.CPUTime())(b)
}

func BenchmarkGet(b *testing.B) {
	benchmarkRequest(b, "GET /api/v1/namespaces/default/configmaps/a"+benchHead+"\r\n")
}

func BenchmarkCreate(b *testing.B) {
	body := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"` + strings.Repeat("x", 1024) + `"}}`
	benchmarkRequest(b, "POST /api/v1/namespaces/default/configmaps?fieldManager=bench"+benchHead+
		"Content-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
}

func BenchmarkList(b *testing.B) {
	plain := strings.Replace(benchHead, "Accept-Encoding: gzip\r\n", "", 1)
	b.Run("JSON", func(b *testing.B) { benchmarkRequest(b, "GET /api/v1/namespaces/default/configmaps"+plain+"\r\n") })
	for name, media := range map[string]string{
		"Protobuf": "application/vnd.platform.protobuf", "YAML": "application/yaml",
		"Table": "application/json;as=Table;g=meta.platform.io;v=v1",
	} {
		head := strings.Replace(plain, "application/json, */*", media, 1)
		b.Run(name, func(b *testing.B) { benchmarkRequest(b, "GET /api/v1/namespaces/default/configmaps"+head+"\r\n") })
	}
	b.Run("pretty", func(b *testing.B) {
		benchmarkRequest(b, "GET /api/v1/namespaces/default/configmaps?pretty=1"+plain+"\r\n")
	})
	b.Run("gzip", func(b *testing.B) { benchmarkRequest(b, "GET /api/v1/namespaces/default/configmaps"+benchHead+"\r\n") })
}

func BenchmarkApply(b *testing.B) {
	body := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"` + strings.Repeat("x", 1024) + `"}}`
	benchmarkRequest(b, "PATCH /api/v1/namespaces/default/configmaps/a?fieldManager=bench"+benchHead+
		"Content-Type: application/apply-patch+yaml\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
}
