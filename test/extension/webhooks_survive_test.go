package extension

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// TestCallsBack checks that a webhook may update the object under review through the API. The
// server must then retry with the updated object, and call the webhook again.
func TestCallsBack(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	s.create(201, "a", `"k":"0"`)
	for _, kind := range []string{mutating, validating} {
		var calls atomic.Int64
		h := startWebhooks(t, func(q question, w http.ResponseWriter, r *http.Request) {
			if q.text("object", "data", "k") != "asked" || calls.Add(1) > 1 {
				allow(q, w, r)
				return
			}
			a, err := s.Do(r.Context(), "PATCH", configMaps+"/a", client.MergePatch, []byte(`{"data":{"back":"`+strings.ToLower(kind)+`","k":"back"}}`))
			if err != nil || a.Code != 200 {
				t.Errorf("calling back: %v, %v", a, err)
			}
			allow(q, w, r)
		})
		s.register(kind, "x", webhookHook{rules: onlyConfigMaps}.text(h))
		a := s.Send(200, "PATCH", configMaps+"/a", client.MergePatch, `{"data":{"k":"asked"}}`)
		s.wantText(a, `"k":"asked"`, `"back":"`+strings.ToLower(kind)+`"`)
		if got := namesWebhooks(h.questions(), "oldObject", "data", "k"); got != "0 0 back" && got != "asked asked back" {
			t.Errorf("%s: asked about changes of %q", kind, got)
		}
		s.unregister(kind, "x")
	}
}

// TestCallsBackForEver checks that a webhook that updates the object in every review causes a
// conflict, not a deadlock.
func TestCallsBackForEver(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	s.create(201, "a", `"k":"0"`)
	var n atomic.Int64
	h := startWebhooks(t, func(q question, w http.ResponseWriter, r *http.Request) {
		if q.text("object", "metadata", "labels", "inner") == "" {
			_, _ = s.Do(r.Context(), "PATCH", configMaps+"/a", client.MergePatch, fmt.Appendf(nil, `{"metadata":{"annotations":{"n":"%d"},"labels":{"inner":"x"}}}`, n.Add(1)))
			_, _ = s.Do(r.Context(), "PATCH", configMaps+"/a", client.MergePatch, []byte(`{"metadata":{"labels":{"inner":null}},"data":{"x":null}}`))
		}
		allow(q, w, r)
	})
	s.register(validating, "v", webhookHook{rules: onlyConfigMaps, more: `"timeoutSeconds":1,"objectSelector":{"matchExpressions":[{"key":"inner","operator":"DoesNotExist"}]},"matchConditions":[{"name":"a","expression":"has(object.data) && 'x' in object.data"}]`}.text(h))
	a, err := s.Do(s.Ctx, "PATCH", configMaps+"/a", client.MergePatch, []byte(`{"data":{"x":"y"}}`))
	if err != nil || a.Code != 409 && a.Code != 500 {
		t.Errorf("%v, %v", a, err)
	}
	s.Send(200, "GET", configMaps+"/a", "", "")
}

// TestOthersAreFree checks that a slow webhook delays only the requests that it reviews, and no
// other changes to the same object.
func TestOthersAreFree(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	s.create(201, "a", `"k":"0"`)
	entered, gate := make(chan struct{}, 1), make(chan struct{})
	h := startWebhooks(t, func(q question, w http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		<-gate
		allow(q, w, r)
	})
	s.register(validating, "v", webhookHook{rules: rule("UPDATE", "", "v1", "configmaps"), more: `"timeoutSeconds":30,"objectSelector":{"matchLabels":{"slow":"yes"}}`}.text(h))
	done := make(chan error, 1)
	go func() {
		a, err := s.Do(s.Ctx, "PATCH", configMaps+"/a", client.MergePatch, []byte(`{"metadata":{"labels":{"slow":"yes"}}}`))
		if err == nil && a.Code != 200 {
			err = &a
		}
		done <- err
	}()
	<-entered
	for i := range 50 { // before the webhook responds; requests that wait for it would time out
		s.Send(200, "PATCH", configMaps+"/a", client.MergePatch, fmt.Sprintf(`{"data":{"k":"%d"}}`, i))
		s.create(201, fmt.Sprint("b", i), "")
	}
	close(gate)
	if err := <-done; err != nil {
		t.Error(err)
	}
	s.wantText(s.Send(200, "GET", configMaps+"/a", "", ""), `"k":"49"`, `"slow":"yes"`)
}

// TestParallel checks that validating webhooks are called in parallel.
func TestParallel(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	var hooks []string
	together := make(chan struct{}, 4)
	var waiting sync.WaitGroup
	waiting.Add(4)
	h := startWebhooks(t, func(q question, w http.ResponseWriter, r *http.Request) {
		together <- struct{}{}
		waiting.Done()
		waiting.Wait() // for all webhooks
		allow(q, w, r)
	})
	for i := range 4 {
		hooks = append(hooks, webhookHook{name: fmt.Sprintf("h%d.a.b", i), rules: onlyConfigMaps, more: `"timeoutSeconds":30`}.text(h))
	}
	s.register(validating, "v", hooks...)
	s.create(201, "a", "")
}

// TestDead checks that requests fail immediately while their webhook is down, and succeed once it
// is up again.
func TestDead(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	h := startWebhooks(t, allow)
	text := webhookHook{rules: onlyConfigMaps}.text(h)
	address, config := h.Listener.Addr().String(), h.TLS
	h.Close()
	s.register(validating, "v", text)
	for i := range 20 {
		s.wantMessage(s.create(500, fmt.Sprint("a", i), ""), "connection refused")
	}
	var listener net.Listener
	client.Eventually(t, func() (err error) { // another test may use the port for a while
		listener, err = tls.Listen("tcp", address, config)
		return err
	})
	back := &http.Server{Handler: h}
	go func() { _ = back.Serve(listener) }()
	t.Cleanup(func() { _ = back.Close() })
	s.create(201, "b", "")
}

// TestBlackHole checks that few requests connect to a webhook that accepts connections but never
// responds.
func TestBlackHole(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	hole, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hole.Close() })
	var connections atomic.Int64
	go func() {
		for {
			conn, err := hole.Accept()
			if err != nil {
				return
			}
			defer conn.Close() // at the end of the test, so that no client gets a response
			connections.Add(1)
		}
	}()
	h := startWebhooks(t, allow)
	s.register(validating, "v", webhookHook{rules: onlyConfigMaps, client: fmt.Sprintf(`{"url":"https://%s","caBundle":%q}`, hole.Addr(), h.bundle), more: `"timeoutSeconds":1,"failurePolicy":"Ignore"`}.text(h))
	for i := range 5 {
		s.create(201, fmt.Sprint("a", i), "")
	}
	before := connections.Load()
	for i := range 10 {
		var all sync.WaitGroup
		for j := range 4 {
			all.Go(func() { s.create(201, fmt.Sprintf("b%d-%d", i, j), "") })
		}
		all.Wait()
	}
	if waited := connections.Load() - before; waited > 20 {
		t.Errorf("%d of 40 requests have tried to connect", waited)
	}
}

// A turn is the listener of one of several servers that use the same port in turn. Closing it keeps
// the port open.
type turn struct {
	net.Listener
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *turn) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *turn) Close() error { l.once.Do(func() { close(l.closed) }); return nil }

// TestRestartUnderLoad checks that requests succeed while a webhook closes its connections, over
// HTTP/1.1 and HTTP/2.
func TestRestartUnderLoad(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	h := startWebhooks(t, allow)
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { port.Close() })
	conns := make(chan net.Conn)
	go func() {
		for {
			conn, err := port.Accept()
			if err != nil {
				return
			}
			conns <- conn
		}
	}()
	serve := func(protocols ...string) *http.Server {
		config := h.TLS.Clone()
		config.NextProtos = protocols
		server := &http.Server{Handler: h, TLSConfig: config, ErrorLog: h.Config.ErrorLog}
		go func() { _ = server.ServeTLS(&turn{Listener: port, conns: conns, closed: make(chan struct{})}, "", "") }()
		t.Cleanup(func() { _ = server.Close() })
		return server
	}
	last := serve("http/1.1")
	s.register(validating, "v", webhookHook{rules: onlyConfigMaps, client: fmt.Sprintf(`{"url":"https://%s","caBundle":%q}`, port.Addr(), h.bundle)}.text(h))
	stop := make(chan struct{})
	var all sync.WaitGroup
	var created atomic.Int64
	for i := range 4 {
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				a, err := s.Do(s.Ctx, "POST", configMaps, client.JSON, []byte(configMap(fmt.Sprintf("a%d-%d", i, n), "")))
				if err != nil || a.Code != 201 {
					t.Errorf("%v, %v", a, err)
					return
				}
				created.Add(1)
			}
		})
	}
	for i := range 10 { // a new server replaces the old one, which finishes its requests
		until := created.Load() + 20
		client.Poll(func() bool { return created.Load() >= until || t.Failed() })
		next := serve([][]string{{"h2", "http/1.1"}, {"http/1.1"}}[i%2]...)
		_ = last.Shutdown(t.Context())
		last = next
	}
	close(stop)
	all.Wait()
}

// TestBrokenTLS checks the error for a webhook that aborts TLS handshakes.
func TestBrokenTLS(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	h := startWebhooks(t, allow)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for i := 0; ; i++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if i%2 == 0 {
				_, _ = conn.Write([]byte("HTTP/1.0 200 OK\r\n\r\n"))
			}
			conn.Close()
		}
	}()
	s.register(validating, "v", webhookHook{rules: onlyConfigMaps, client: fmt.Sprintf(`{"url":"https://%s","caBundle":%q}`, listener.Addr(), h.bundle)}.text(h))
	for i := range 4 {
		s.wantMessage(s.create(500, fmt.Sprint("a", i), ""), `failed calling webhook "hook.example.com": failed to call webhook`)
	}
}

// TestRequestDeadline checks that a request ends at its deadline, even if the webhook's timeout is
// longer.
func TestRequestDeadline(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	h := startWebhooks(t, func(_ question, _ http.ResponseWriter, r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	})
	for _, policy := range []string{"Fail", "Ignore"} {
		s.register(validating, "v", webhookHook{rules: onlyConfigMaps, more: `"timeoutSeconds":30,"failurePolicy":"` + policy + `"`}.text(h))
		quick := client.Quick(t, 20*time.Second, policy)
		a, err := s.Do(s.Ctx, "POST", configMaps+"?timeout=1s", client.JSON, []byte(configMap("a", "")))
		if quick(); err != nil || a.Code != 504 && a.Code != 500 {
			t.Errorf("%s: %v, %v", policy, a, err)
		}
		s.unregister(validating, "v")
	}
	s.Send(404, "GET", configMaps+"/a", "", "")
}

// TestEndOfNamespaces checks that webhooks review the deletion of objects whose namespace or owner
// was deleted. An object is deleted once all webhooks allow it.
func TestEndOfNamespaces(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	const namespaces = "/api/v1/namespaces"
	s.Send(201, "POST", namespaces, client.JSON, `{"metadata":{"name":"ending"}}`)
	s.Send(201, "POST", namespaces+"/ending/configmaps", client.JSON, `{"metadata":{"name":"a"}}`)
	s.Send(201, "POST", configMaps, client.JSON, `{"metadata":{"name":"owner"}}`)
	owner, err := s.Get(s.Ctx, configMaps+"/owner")
	if err != nil {
		t.Fatal(err)
	}
	s.Send(201, "POST", configMaps, client.JSON, fmt.Sprintf(`{"metadata":{"name":"owned","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":%q}]}}`, owner.Object().UID()))
	h := startWebhooks(t, respond(`"allowed":false`))
	s.register(validating, "v", webhookHook{rules: rule("DELETE", "*", "*", "configmaps")}.text(h))
	asked := func(name string) {
		client.Eventually(t, func() error {
			for _, q := range h.take() {
				if q.text("name") == name {
					return nil
				}
			}
			return fmt.Errorf("no review of %s", name)
		})
	}
	gone := func(path string) {
		client.Eventually(t, func() error {
			if a, err := s.Get(s.Ctx, path); err != nil || a.Code != 404 {
				return fmt.Errorf("%s: %d %v", path, a.Code, err)
			}
			return nil
		})
	}
	s.Send(200, "DELETE", namespaces+"/ending", "", "")
	asked("a")
	s.Send(200, "GET", namespaces+"/ending/configmaps/a", "", "")
	h.set(allow)
	gone(namespaces + "/ending")
	s.Send(200, "DELETE", configMaps+"/owner", "", "")
	gone(configMaps + "/owned")
	asked("owned")
}
