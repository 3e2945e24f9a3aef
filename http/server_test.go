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

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// fasthttp keeps a clock for Date headers forever, and its worker pool stops up to ten seconds
	// late.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

// tokenAuthenticator accepts all tokens but "bad"; the user is the token.
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

// denyJane allows everyone but jane.
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

// serve starts a front over an empty store; change may modify its options.
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

// do sends a request; headers are name, value, name, value ...
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

// sendRaw sends bytes and reads until the connection closes or a response is complete.
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

// status has the fields of a Status that the tests check.
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

func TestObjectLifecycle(t *testing.T) {
	f := serve(t, nil)
	resp, body := f.do("POST", configMapsPath, configMap("a"))
	if resp.StatusCode != 201 || !strings.Contains(body, `"resourceVersion":"11"`) || !strings.Contains(body, `"namespace":"x"`) {
		t.Fatalf("create: %d %s", resp.StatusCode, body)
	}
	for _, name := range []string{"Audit-Id", "Date", "Cache-Control"} {
		if resp.Header.Get(name) == "" {
			t.Errorf("no header %s", name)
		}
	}
	if resp.Header.Get("Server") != "" {
		t.Error("the server names itself")
	}
	if resp, got := f.do("GET", configMapsPath+"/a", ""); resp.StatusCode != 200 || got != body || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("get: %d %s", resp.StatusCode, got)
	}
	if resp, _ := f.do("PUT", configMapsPath+"/a", configMap("a")); resp.StatusCode != 200 {
		t.Errorf("update: %d", resp.StatusCode)
	}
	if resp, _ := f.do("PUT", configMapsPath+"/b", configMap("b")); resp.StatusCode != 201 {
		t.Errorf("update that creates: %d", resp.StatusCode)
	}
	resp, body = f.do("GET", configMapsPath, "")
	if resp.StatusCode != 200 || !strings.HasPrefix(body, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"13"},"items":[{"metadata":{"name":"a"`) || !json.Valid([]byte(body)) {
		t.Errorf("list: %d %s", resp.StatusCode, body)
	}
	if _, body = f.do("GET", configMapsPath+"?limit=1", ""); !strings.Contains(body, `"metadata":{"resourceVersion":"13","continue":"token","remainingItemCount":1},"items":[`) {
		t.Errorf("chunk: %s", body)
	}
	if _, body = f.do("DELETE", configMapsPath+"/a", ""); body != `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"a","kind":"configmaps"}}`+"\n" {
		t.Errorf("delete: %s", body)
	}
	if s := f.parseStatus(secondValue(f.do("GET", configMapsPath+"/a", ""))); s.Code != 404 || s.Message != `configmaps "a" not found` {
		t.Errorf("get of nothing: %+v", s)
	}
	if _, body = f.do("DELETE", configMapsPath, ""); body != `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"kind":"configmaps"}}`+"\n" {
		t.Errorf("deletecollection: %s", body)
	}
	if _, body = f.do("GET", "/api/v1/configmaps", ""); body != `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"15"},"items":[]}`+"\n" {
		t.Errorf("empty list: %s", body)
	}
}

func secondValue(_ *nethttp.Response, s string) string { return s }

func TestFieldWarnings(t *testing.T) {
	f := serve(t, nil)
	const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"bogus":1}`
	resp, _ := f.do("POST", configMapsPath, body)
	if w := resp.Header.Values("Warning"); len(w) != 1 || w[0] != `299 - "unknown field \"bogus\""` {
		t.Errorf("warn: %q", w)
	}
	resp, _ = f.do("POST", configMapsPath+"?fieldValidation=Ignore", body)
	if w := resp.Header.Values("Warning"); len(w) != 0 {
		t.Errorf("ignore: %q", w)
	}
}

func TestFormats(t *testing.T) {
	f := serve(t, nil)
	f.do("POST", configMapsPath, configMap("a"))
	for accept, want := range map[string][2]string{
		"application/yaml": {"application/yaml", "apiVersion: v1\n"},
		"application/json;as=Table;g=meta.platform.io;v=v1":                      {"application/json", `"kind":"Table","apiVersion":"meta.platform.io/v1"`},
		"application/json;as=Table;g=meta.platform.io;v=v9, application/json":    {"application/json", `"kind":"ConfigMap"`},
		"application/json;as=PartialObjectMetadata;g=meta.platform.io;v=v1beta1": {"application/json", `"apiVersion":"meta.platform.io/v1beta1","metadata":{"name":"a"`},
		"application/yaml;q=0.5, application/json;q=0.9":                         {"application/json", `{"kind":"ConfigMap"`},
		"application/vnd.platform.protobuf, application/json":                    {"application/vnd.platform.protobuf", "k8s\x00"},
		"text/html, */*;q=0.1": {"application/json", `{"kind"`},
		"application/vnd.platform.protobuf;as=PartialObjectMetadata;g=meta.platform.io;v=v1": {"application/vnd.platform.protobuf", "PartialObjectMetadata"},
	} {
		resp, body := f.do("GET", configMapsPath+"/a", "", "Accept", accept)
		if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != want[0] || !strings.Contains(body, want[1]) {
			t.Errorf("%s: %d %s %q", accept, resp.StatusCode, resp.Header.Get("Content-Type"), body)
		}
	}
	if _, body := f.do("GET", configMapsPath+"/a?pretty=true", ""); !strings.HasPrefix(body, "{\n  \"kind\": \"ConfigMap\"") {
		t.Errorf("pretty: %s", body)
	}
}

// TestProtobufBody sends back what it received.
func TestProtobufBody(t *testing.T) {
	f := serve(t, nil)
	f.do("POST", configMapsPath, configMap("a"))
	const media = "application/vnd.platform.protobuf"
	_, object := f.do("GET", configMapsPath+"/a", "", "Accept", media)
	resp, body := f.do("PUT", configMapsPath+"/a", object, "Content-Type", media)
	if resp.StatusCode != 200 || !strings.Contains(body, `"data":{"k":"v"}`) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if _, list := f.do("GET", configMapsPath, "", "Accept", media); !strings.Contains(list, "ConfigMapList") {
		t.Errorf("list %q", list)
	}
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

func TestDeleteOptions(t *testing.T) {
	f := serve(t, nil)
	f.do("DELETE", configMapsPath+"/a?dryRun=All", `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":3,"preconditions":{"uid":"u","resourceVersion":"7"},"propagationPolicy":"Orphan"}`)
	m := f.store.last
	if d := m.Change.(request.Delete); !m.DryRun || d.UID == nil || *d.UID != "u" || d.ResourceVersion == nil || *d.ResourceVersion != "7" || d.PropagationPolicy != "Orphan" || d.GracePeriodSeconds == nil || *d.GracePeriodSeconds != 3 {
		t.Errorf("body: %+v", m)
	}
	f.do("DELETE", configMapsPath+"/a?propagationPolicy=Background&gracePeriodSeconds=0", "")
	if d := f.store.last.Change.(request.Delete); d.PropagationPolicy != "Background" || d.GracePeriodSeconds == nil || *d.GracePeriodSeconds != 0 {
		t.Errorf("query: %+v", d)
	}
}

func TestPanicIsOneResponse(t *testing.T) {
	f := serve(t, nil)
	f.store.beforeGet = func() { panic("secret") }
	resp, body := f.do("GET", configMapsPath+"/a", "")
	if s := f.parseStatus(body); resp.StatusCode != 500 || s.Reason != "InternalError" || strings.Contains(body, "secret") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	f.store.beforeGet = nil
	if resp, _ := f.do("GET", configMapsPath+"/a", ""); resp.StatusCode != 404 {
		t.Errorf("afterwards: %d", resp.StatusCode)
	}
}
