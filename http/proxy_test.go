package http_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/http/internal/proxy"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/valyala/fasthttp"
)

// A front is a handler that proxies every request, like the daemon after its filters.
type front struct {
	t      *testing.T
	conn   *wire.Conn
	target func() *proxy.Target
	open   *atomic.Int64
}

func (f *front) RejectHead(ctx *fasthttp.RequestCtx, err error) { ctx.Error(err.Error(), 400) }
func (f *front) ReplaceUnwritable(r *fasthttp.Response)         { r.SetStatusCode(500) }
func (f *front) ServeRequest(ctx *fasthttp.RequestCtx) {
	h := &ctx.Request.Header
	ctx.Response.Header.Set("Audit-Id", "1")
	target := f.target()
	u := *target.URL
	u.Path, u.RawQuery = string(ctx.Path()), string(ctx.URI().QueryString())
	target.URL = &u
	f.open.Add(1)
	e := proxy.New(context.Background(), f.conn, proxy.Request{
		Method: string(h.Method()), Head: h, Answer: &ctx.Response.Header,
		Headers: func(yield func(string, string) bool) {
			for name, value := range h.All() {
				if !yield(string(name), string(value)) {
					return
				}
			}
		},
		ClientAddr: ctx.RemoteAddr().(*net.TCPAddr).AddrPort().Addr(),
	}, target)
	result, err := e.Run(func(int) {})
	switch {
	case err != nil:
		s := meta.AsStatus(err)
		ctx.Response.SetStatusCode(s.Code)
		ctx.Response.SetBodyString(s.Message)
	case result.Tunnel != nil:
		f.conn.Hijack(func() { result.Tunnel.Run(func() { f.open.Add(-1) }) })
		return
	}
	f.open.Add(-1)
}

// serveProxy starts a server that proxies to backend. It returns the address and the number of open
// requests.
func serveProxy(t *testing.T, backend string, change func(*proxy.Target)) (address string, open *atomic.Int64) {
	t.Helper()
	u := must.Get(url.Parse(backend))(t)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	b := proxy.NewBackend(proxy.BackendOptions{})
	open = new(atomic.Int64)
	all := wire.New(wire.Options{
		MaxConnections: 100, HandshakeTimeout: time.Minute, ReadTimeout: time.Minute, IdleTimeout: time.Minute,
		WriteTimeout: time.Minute, Log: slog.New(slog.DiscardHandler),
		NewHandler: func(c *wire.Conn) wire.Handler {
			return &front{t: t, conn: c, open: open, target: func() *proxy.Target {
				target := &proxy.Target{URL: u, Backend: b}
				if change != nil {
					change(target)
				}
				return target
			}}
		},
	})
	go func() { _ = all.Serve(l) }()
	t.Cleanup(func() {
		_ = l.Close()
		all.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = all.Wait(ctx)
		b.Close()
	})
	return l.Addr().String(), open
}

func backend(t *testing.T, f http.HandlerFunc) string {
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s.URL
}

func eventually(t *testing.T, label string, f func() bool) {
	t.Helper()
	tick, watchdog := time.NewTicker(time.Millisecond), time.After(5*time.Minute)
	defer tick.Stop()
	for !f() {
		select {
		case <-tick.C:
		case <-watchdog:
			t.Fatal(label)
		}
	}
}

func send(t *testing.T, address, text string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c := must.Get(net.Dial("tcp", address))(t)
	t.Cleanup(func() { _ = c.Close() })
	must.Succeed(t, c.SetDeadline(time.Now().Add(5*time.Minute)))
	must.Get(io.WriteString(c, text))(t)
	return c, bufio.NewReader(c)
}

func readResponse(t *testing.T, r *bufio.Reader, method string) (*http.Response, string) {
	t.Helper()
	resp := must.Get(http.ReadResponse(r, &http.Request{Method: method}))(t)
	body := must.Get(io.ReadAll(resp.Body))(t)
	return resp, string(body)
}

// TestDocumentsAreSandboxed tests that every backend response, regardless of its content type, gets
// a Content-Security-Policy with sandbox in addition to the backend's own policy.
func TestDocumentsAreSandboxed(t *testing.T) {
	t.Parallel()
	address, _ := serveProxy(t, backend(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = r.URL.Query()["t"]
		w.Header().Set("Content-Security-Policy", "default-src 'self'")
		fmt.Fprint(w, "<script>")
	}), nil)
	for _, query := range []string{"", "t=text/html;charset=utf-8", "t=image/svg%2Bxml", "t=text/plain&t=text/html", "t=html", "t=*/*", "t=application/json"} {
		_, r := send(t, address, "GET /?"+query+" HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
		resp, _ := readResponse(t, r, "GET")
		if got, want := resp.Header["Content-Security-Policy"], []string{"default-src 'self'", "sandbox allow-scripts allow-forms"}; !slices.Equal(got, want) {
			t.Errorf("%q: %q", query, got)
		}
	}
}

// TestKeepAlive tests that pipelined requests get matching responses, with all types of bodies.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	address, _ := serveProxy(t, backend(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Seen", fmt.Sprint(r.Header["X-Forwarded-For"], r.Header["Connection"], r.Header["X-Hop"], r.Header["User-Agent"], r.Host))
		if r.URL.Path == "/chunked" {
			w.(http.Flusher).Flush()
		}
		fmt.Fprintf(w, "%s %s %s", r.Method, r.URL, body)
	}), nil)
	_, r := send(t, address, "GET /a?b=c HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 9.9.9.9\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n"+
		"POST /length HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"+
		"PUT /chunked HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"+
		"HEAD /head HTTP/1.1\r\nHost: h\r\n\r\n"+
		"DELETE /last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
	for _, want := range []string{"GET /a?b=c ", "POST /length hello", "PUT /chunked abcde", "", "DELETE /last "} {
		method := "GET"
		if want == "" {
			method = "HEAD"
		}
		resp, body := readResponse(t, r, method)
		if body != want || resp.Header.Get("Audit-Id") != "1" {
			t.Errorf("%q, want %q; %v", body, want, resp.Header)
		}
		if seen := resp.Header.Get("X-Seen"); strings.HasPrefix(want, "GET") && seen != "[9.9.9.9, 127.0.0.1] [] [] []h" {
			t.Errorf("the backend saw %s", seen)
		}
		if last := strings.HasSuffix(want, "/last "); resp.Close != last {
			t.Errorf("%s: the connection ends: %v", want, resp.Close)
		}
	}
	if _, err := r.ReadByte(); err != io.EOF {
		t.Errorf("after the last answer: %v", err)
	}
}

func TestStreaming(t *testing.T) {
	t.Parallel()
	address, _ := serveProxy(t, backend(t, func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		w.Header().Set("Trailer", "X-Sum")
		lines := bufio.NewScanner(r.Body)
		for lines.Scan() {
			fmt.Fprintln(w, "got "+lines.Text())
			w.(http.Flusher).Flush()
		}
		w.Header().Set("X-Sum", "7")
	}), nil)
	c, r := send(t, address, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n")
	resp := must.Get(http.ReadResponse(r, nil))(t)
	body := bufio.NewReader(resp.Body)
	for i, next := range []string{"4\r\ntwo\n\r\n", "0\r\n\r\n"} {
		line, err := body.ReadString('\n')
		if err != nil || line != "got "+[]string{"one", "two"}[i]+"\n" {
			t.Fatalf("%q %v", line, err)
		}
		must.Get(io.WriteString(c, next))(t)
	}
	if rest, err := io.ReadAll(body); err != nil || len(rest) > 0 || resp.Trailer.Get("X-Sum") != "7" {
		t.Errorf("%q %v %v", rest, err, resp.Trailer)
	}
}

func TestExpectContinue(t *testing.T) {
	t.Parallel()
	address, _ := serveProxy(t, backend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/no" {
			w.WriteHeader(413)
			return
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	}), nil)
	c, r := send(t, address, "POST /yes HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != 100 {
		t.Fatalf("%v %v", resp, err)
	}
	must.Get(io.WriteString(c, "ok"))(t)
	if resp, body := readResponse(t, r, "POST"); resp.StatusCode != 200 || body != "ok" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
	_, r = send(t, address, "POST /no HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
	if resp, _ := readResponse(t, r, "POST"); resp.StatusCode != 413 || !resp.Close {
		t.Errorf("%d", resp.StatusCode)
	}
}

// TestClientGone tests that a client disconnect cancels the backend request, with or without a
// pending body.
func TestClientGone(t *testing.T) {
	t.Parallel()
	arrived, ended := make(chan struct{}, 3), make(chan struct{}, 3)
	address, open := serveProxy(t, backend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/answer" {
			w.(http.Flusher).Flush()
		}
		if r.Body != http.NoBody {
			go func() { _, _ = io.Copy(io.Discard, r.Body) }()
		}
		arrived <- struct{}{}
		<-r.Context().Done()
		ended <- struct{}{}
	}), nil)
	for _, text := range []string{
		"GET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET /answer HTTP/1.1\r\nHost: h\r\n\r\n", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nab",
	} {
		c, _ := send(t, address, text)
		<-arrived
		must.Succeed(t, c.Close())
		select {
		case <-ended:
		case <-time.After(5 * time.Minute):
			t.Fatalf("%q goes on", text)
		}
	}
	eventually(t, "requests are left", func() bool { return open.Load() == 0 })
}

// TestBackendBreaksOff tests that clients detect a truncated response, and that an unreachable
// backend yields a 503.
func TestBackendBreaksOff(t *testing.T) {
	t.Parallel()
	address, _ := serveProxy(t, backend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/length" {
			w.Header().Set("Content-Length", "100")
		}
		fmt.Fprint(w, "part")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}), nil)
	for _, path := range []string{"/length", "/chunked"} {
		_, r := send(t, address, "GET "+path+" HTTP/1.1\r\nHost: h\r\n\r\n")
		resp := must.Get(http.ReadResponse(r, nil))(t)
		if body, err := io.ReadAll(resp.Body); err == nil {
			t.Errorf("%s: %q is taken for the whole", path, body)
		}
	}
	address, _ = serveProxy(t, "http://127.0.0.1:1", nil)
	_, r := send(t, address, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	if resp, body := readResponse(t, r, "GET"); resp.StatusCode != 503 || !strings.HasPrefix(body, "error trying to reach service: dial tcp") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}

// echo returns a backend that accepts any upgrade. It sends a greeting with the response head, and
// then echoes all data.
func echo(t *testing.T, protocol string) string {
	return backend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/no" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		if r.URL.Path == "/plain" {
			return
		}
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = c.Close() }()
		fmt.Fprintf(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\nX-B: %s\r\n\r\nhello ", protocol, r.Header.Get("X-A"))
		_ = rw.Flush()
		_, _ = io.Copy(c, rw)
		fmt.Fprint(c, " bye")
	})
}

const upgradeTo = "POST / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, Upgrade\r\nUpgrade: %s\r\nX-A: a\r\n\r\n"

// TestUpgrade tests that an upgraded connection is copied in both directions, including early data,
// and that each direction ends separately.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	address, open := serveProxy(t, echo(t, "SPDY/3.1"), nil)
	c, r := send(t, address, fmt.Sprintf(upgradeTo, "SPDY/3.1")+"early ")
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != 101 || resp.Header.Get("Upgrade") != "SPDY/3.1" || resp.Header.Get("X-B") != "a" {
		t.Fatalf("%v %v", resp, err)
	}
	must.Get(io.WriteString(c, "late"))(t)
	must.Succeed(t, c.(*net.TCPConn).CloseWrite())
	if all, err := io.ReadAll(r); err != nil || string(all) != "hello early late bye" {
		t.Errorf("%q %v", all, err)
	}
	eventually(t, "the tunnel stays", func() bool { return open.Load() == 0 })
}

func TestNoUpgrade(t *testing.T) {
	t.Parallel()
	address, _ := serveProxy(t, echo(t, "other"), nil)
	for path, want := range map[string]int{"/": 500, "/no": 403, "/plain": 500} {
		_, r := send(t, address, strings.Replace(fmt.Sprintf(upgradeTo, "SPDY/3.1"), "/", path, 1))
		if resp, _ := readResponse(t, r, "GET"); resp.StatusCode != want {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
	_, r := send(t, address, fmt.Sprintf(upgradeTo, "h2c"))
	if resp, _ := readResponse(t, r, "GET"); resp.StatusCode == 101 {
		t.Error("upgraded to HTTP/2")
	}
	dead, _ := serveProxy(t, "http://127.0.0.1:1", func(t *proxy.Target) { t.UpgradeRequired = true })
	_, r = send(t, dead, fmt.Sprintf(upgradeTo, "x"))
	if resp, body := readResponse(t, r, "GET"); resp.StatusCode != 500 || !strings.HasPrefix(body, "error dialing backend: dial tcp") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	_, r = send(t, dead, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	if resp, body := readResponse(t, r, "GET"); resp.StatusCode != 400 || body != "Upgrade request required" {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	to := backend(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
	})
	for refuse, want := range map[bool]int{false: 302, true: 502} {
		address, _ := serveProxy(t, to, func(t *proxy.Target) { t.RefuseRedirects = refuse })
		_, r := send(t, address, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
		if resp, _ := readResponse(t, r, "GET"); resp.StatusCode != want {
			t.Errorf("refused: %v: %d", refuse, resp.StatusCode)
		}
	}
}
