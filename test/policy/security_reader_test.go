package policy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	front "github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/test/client"
)

// A readOnlyStore has a fixed list of objects. Every get returns the first object.
type readOnlyStore struct {
	front.Store
	objects []*meta.Object
}

func (s *readOnlyStore) Get(context.Context, request.Get) (*meta.Object, error) {
	return s.objects[0], nil
}

func (s *readOnlyStore) Convert(_ context.Context, k *schema.Kind, objects []*meta.Object) ([]*meta.Object, error) {
	out := make([]*meta.Object, len(objects))
	for i, o := range objects {
		var err error
		if out[i], err = convert.Object(k, nil, o); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *readOnlyStore) List(_ context.Context, r request.List) (request.ListResult, error) {
	objects := s.objects
	if r.Limit > 0 {
		objects = objects[:min(r.Limit, len(objects))]
	}
	return request.ListResult{Version: 7, Items: objects, Remaining: -1, Form: convert.Form{Kind: r.Kind, Converter: s}}, nil
}

func filled(objects int, data string) *readOnlyStore {
	s := &readOnlyStore{}
	for n := range objects {
		const head = `{"kind":"ConfigMap","apiVersion":"v1",`
		s.objects = append(s.objects, &meta.Object{Version: 7, ItemOffset: len(head), JSON: fmt.Appendf(nil,
			head+`"metadata":{"name":"m%04d","namespace":"default","resourceVersion":"7"},"data":{"text":"%s"}}`, n, data)})
	}
	return s
}

// frontOf serves a store without TLS and authentication, and returns the server's address.
func frontOf(t *testing.T, store front.Store, limits front.Limits) string {
	t.Helper()
	kinds, err := catalog.New(meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, err := front.New(front.Options{
		Naming: meta.Platform, Catalog: kinds, Store: store, Authenticator: adminAuthenticator{}, Authorizer: authz.Masters{},
		Listener: listener, Limits: limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), client.Watchdog)
		defer cancel()
		if err := errors.Join(server.Shutdown(ctx), <-served); err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// begin sends a GET request on a new connection and reads only the response header.
func begin(t *testing.T, addr, path, accept string) (*http.Response, net.Conn) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(8 << 10); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(client.Watchdog))
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nAccept: %s\r\n\r\n", path, accept); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReaderSize(conn, 1<<10), nil)
	if err != nil {
		t.Fatal(err)
	}
	return answer, conn
}

// TestStalledLists checks that a list response counts as in flight until its client has read it.
// Above the response memory limit, the server rejects lists but not small responses. After a
// timeout, it disconnects clients that do not read, and frees the memory.
func TestStalledLists(t *testing.T) {
	store := filled(40, strings.Repeat("x", 512<<10))
	const pretty = configMaps + "?pretty=true"
	for _, c := range []struct {
		name, path string
		limits     front.Limits
		fit        int  // number of readers that are served
		small      bool // whether a small get is served meanwhile
	}{
		{"in flight", configMaps, front.Limits{MaxRequestsInFlight: 4}, 5, false},
		{"in flight, pretty", pretty, front.Limits{MaxRequestsInFlight: 4}, 5, false},
		{"bytes", pretty, front.Limits{MaxResponseBytes: 1 << 20}, 7, true}, // a quarter more than the limit, because they are administrators
	} {
		t.Run(c.name, func(t *testing.T) {
			c.limits.WriteTimeout = time.Hour
			addr := frontOf(t, store, c.limits)
			for n := range c.fit {
				if answer, _ := begin(t, addr, c.path, "application/json"); answer.StatusCode != 200 {
					t.Fatalf("reader %d: %s", n, answer.Status)
				}
			}
			answer, _ := begin(t, addr, c.path, "application/json")
			if answer.StatusCode != 429 || answer.Header.Get("Retry-After") == "" {
				t.Errorf("one reader more: %s", answer.Status)
			}
			if answer, _ := begin(t, addr, configMaps+"/m0000?pretty=false", "application/json"); c.small && answer.StatusCode != 200 {
				t.Errorf("beside the readers: %s", answer.Status)
			}
			c.limits.WriteTimeout = time.Second
			addr = frontOf(t, store, c.limits)
			for range 2 * c.fit {
				begin(t, addr, c.path, "application/json")
			}
			client.Eventually(t, func() error {
				answer, conn := begin(t, addr, c.path, "application/json")
				if answer.StatusCode != 200 {
					return fmt.Errorf("no stalled reader is closed: %s", answer.Status)
				}
				return conn.Close()
			})
		})
	}
}

// TestBrokenStream checks that a client cannot mistake a truncated list for a complete one. If the
// failure precedes the response, the client gets an error.
func TestBrokenStream(t *testing.T) {
	store := &readOnlyStore{}
	for n := range 200 {
		text := fmt.Appendf(nil, `{"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2","metadata":{"name":"h%04d","annotations":{"a":"%s"}},"spec":{"maxReplicas":1}}`,
			n, strings.Repeat("x", 2000))
		if n == 150 {
			text = text[:len(text)-9]
		}
		store.objects = append(store.objects, &meta.Object{Version: 7, ItemOffset: 1, JSON: text})
	}
	addr := frontOf(t, store, front.Limits{})
	const path, partial = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers", ";as=PartialObjectMetadataList;g=meta.platform.io;v=v1"
	const table = "application/json;as=Table;g=meta.platform.io;v=v1"
	for _, accept := range []string{"application/json", "application/yaml", "application/json" + partial, table} {
		answer, _ := begin(t, addr, path, accept)
		body, err := io.ReadAll(answer.Body)
		if answer.StatusCode != 200 || err == nil {
			t.Errorf("%s: %s, %d bytes, %v", accept, answer.Status, len(body), err)
		}
	}
	for _, accept := range []string{"application/vnd.platform.protobuf", "application/vnd.platform.protobuf" + partial} {
		if answer, _ := begin(t, addr, path, accept); answer.StatusCode != 500 {
			t.Errorf("%s: %s", accept, answer.Status)
		}
	}
	store.objects = store.objects[150:160]
	for _, accept := range []string{"application/json", "application/yaml", table} {
		if answer, _ := begin(t, addr, path, accept); answer.StatusCode != 500 {
			t.Errorf("%s: %s", accept, answer.Status)
		}
	}
}
