package http_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	nethttp "net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

func TestMain(m *testing.M) {
	// fasthttp never stops its clock for Date headers, and stops its worker pool up to ten seconds
	// late.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

// tokenAuthenticator accepts every token except "bad" and returns the token as user.
type tokenAuthenticator struct{}

func (tokenAuthenticator) Authenticate(r authn.Request) (*authn.User, error) {
	switch {
	case r.HasToken && (r.Token == "" || r.Token == "bad"):
		return nil, errors.New("bad token")
	case r.HasToken:
		return &authn.User{Name: r.Token}, nil
	}
	return &authn.User{Name: "admin"}, nil
}

type denyJane struct{}

func (denyJane) Authorize(a authz.Attributes) (authz.Decision, string) {
	if a.User.Name == "jane" {
		return authz.NoOpinion, ""
	}
	return authz.Allow, ""
}

type testServer struct {
	testing.TB
	store  *memStore
	server *http.Server
	url    string
	client *nethttp.Client
	stop   func()
}

var testCatalog = sync.OnceValue(func() *catalog.Catalog {
	c, err := catalog.New(meta.Platform)
	if err != nil {
		panic(err)
	}
	return c
})

func serve(t testing.TB, change func(*http.Options)) *testServer {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	store := newMemStore()
	o := http.Options{
		Naming: meta.Platform, Catalog: testCatalog(), Store: store, Listener: l,
		Authenticator: tokenAuthenticator{}, Authorizer: denyJane{}, Version: "0.1.0",
	}
	if change != nil {
		change(&o)
	}
	s := must.Get(http.New(o))(t)
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	f := &testServer{TB: t, store: store, server: s, url: "http://" + l.Addr().String()}
	f.client = &nethttp.Client{Transport: &nethttp.Transport{DisableCompression: true}}
	f.stop = sync.OnceFunc(func() {
		f.client.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(f.stop)
	return f
}

// do sends a request. headers alternates header names and values.
func (f *testServer) do(method, path, body string, headers ...string) (*nethttp.Response, string) {
	f.Helper()
	r := must.Get(nethttp.NewRequest(method, f.url+path, strings.NewReader(body)))(f)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	resp := must.Get(f.client.Do(r))(f)
	defer resp.Body.Close()
	text := must.Get(io.ReadAll(resp.Body))(f)
	return resp, string(text)
}

// sendRaw sends text on a new connection, and reads until a response is complete or the connection
// closes.
func (f *testServer) sendRaw(text string) (code int, closed bool) {
	f.Helper()
	c := must.Get(net.Dial("tcp", strings.TrimPrefix(f.url, "http://")))(f)
	defer c.Close()
	must.Get(io.WriteString(c, text))(f)
	resp, err := nethttp.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		f.Fatalf("%q: %v", text, err)
	}
	defer resp.Body.Close()
	must.Get(io.Copy(io.Discard, resp.Body))(f)
	return resp.StatusCode, resp.Close
}

const configMapsPath = "/api/v1/namespaces/x/configmaps"

func configMap(name string) string {
	return `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"` + name + `"},"data":{"k":"v"}}`
}

type status struct {
	Kind, Status, Message, Reason string
	Code                          int
	Details                       map[string]any
}

func (f *testServer) parseStatus(text string) status {
	f.Helper()
	var s status
	if err := json.Unmarshal([]byte(text), &s); err != nil || s.Kind != "Status" {
		f.Fatalf("no Status: %q", text)
	}
	return s
}

func TestDiscoveryIsRevalidated(t *testing.T) {
	f := serve(t, nil)
	const accept = "application/json;g=apidiscovery.platform.io;v=v2;as=APIGroupDiscoveryList"
	for _, path := range []string{"/api", "/apis"} {
		resp, body := f.do("GET", path, "", "Accept", accept+",application/json;q=0.8")
		etag := resp.Header.Get("ETag")
		if resp.Header.Get("Content-Type") != accept || etag == "" || !strings.Contains(body, `"APIGroupDiscoveryList"`) || resp.Header.Get("Vary") != "Accept" {
			t.Fatalf("%s: %v %.100s", path, resp.Header, body)
		}
		if resp, body = f.do("GET", path, "", "Accept", accept, "If-None-Match", etag); resp.StatusCode != 304 || body != "" {
			t.Errorf("%s again: %d %q", path, resp.StatusCode, body)
		}
	}
}
