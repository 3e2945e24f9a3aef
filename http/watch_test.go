package http_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/textproto"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

func gunzip(t *testing.T, b []byte) []byte {
	t.Helper()
	z := must.Get(gzip.NewReader(bytes.NewReader(b)))(t)
	return must.Get(io.ReadAll(z))(t)
}

func (f *testServer) watch(path string, headers ...string) (*nethttp.Response, context.CancelFunc) {
	f.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := must.Get(nethttp.NewRequestWithContext(ctx, "GET", f.url+path, nil))(f)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp := must.Get(f.client.Do(r))(f)
	if resp.StatusCode != 200 {
		f.Fatalf("watch: %d", resp.StatusCode)
	}
	return resp, cancel
}

func (f *testServer) sendEvents(e ...request.Event) {
	f.store.mu.Lock()
	defer f.store.mu.Unlock()
	f.store.send(e...)
}

func (f *testServer) waitForNoSession() {
	for f.store.openSessions() > 0 {
		runtime.Gosched()
	}
}

func TestWatch(t *testing.T) {
	f := serve(t, nil)
	f.do("POST", configMapsPath, configMap("a"))
	resp, cancel := f.watch(configMapsPath + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")
	defer cancel()
	if ct := resp.Header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("Content-Type %s", ct)
	}
	f.do("PUT", configMapsPath+"/a", configMap("a"))
	f.do("DELETE", configMapsPath+"/a", "")
	f.sendEvents(request.Event{Type: request.Bookmark, Version: 99},
		request.Event{Type: request.Error, Status: meta.NewExpired("too old")})
	text, err := io.ReadAll(resp.Body) // the stream ends normally after the error
	must.Succeed(t, err)
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	want := []string{
		`{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"`,
		`{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"11","annotations":{"platform.io/initial-events-end":"true"}}}}`,
		`{"type":"MODIFIED","object":{"kind":"ConfigMap",`,
		`{"type":"DELETED","object":{"kind":"ConfigMap",`,
		`{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"99"}}}`,
		`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","reason":"Expired","code":410}}`,
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines: %s", len(lines), text)
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("line %d\ngot  %s\nwant %s", i, lines[i], want[i])
		}
	}
}

// TestWatchFraming tests that simultaneous events are sent in one chunk, and that the response ends
// with the last chunk.
func TestWatchFraming(t *testing.T) {
	f := serve(t, nil)
	c := must.Get(net.Dial("tcp", strings.TrimPrefix(f.url, "http://")))(t)
	defer c.Close()
	must.Get(io.WriteString(c, "GET "+configMapsPath+"?watch=1&resourceVersion=5&timeoutSeconds=60 HTTP/1.1\r\nHost: h\r\n\r\n"))(t)
	r := textproto.NewReader(bufio.NewReader(c))
	if line, err := r.ReadLine(); err != nil || line != "HTTP/1.1 200 OK" {
		t.Fatalf("%q %v", line, err)
	}
	head, err := r.ReadMIMEHeader() // arrives before the first event
	if err != nil || head.Get("Transfer-Encoding") != "chunked" || head.Get("Date") == "" {
		t.Fatalf("%v %v", head, err)
	}
	f.sendEvents(request.Event{Type: request.Bookmark, Version: 6}, request.Event{Type: request.Bookmark, Version: 7})
	const event = `{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"%d"}}}`
	first, last := fmt.Sprintf(event, 6), fmt.Sprintf(event, 7)
	want := []string{fmt.Sprintf("%x", len(first)+len(last)+2), first, last, ""}
	for _, want := range want {
		if line, err := r.ReadLine(); err != nil || line != want {
			t.Errorf("got %q, want %q (%v)", line, want, err)
		}
	}
	f.stop()
	for _, want := range []string{"0", ""} {
		if line, err := r.ReadLine(); err != nil || line != want {
			t.Errorf("at the end got %q, want %q (%v)", line, want, err)
		}
	}
}

func TestWatchEndsByTime(t *testing.T) {
	f := serve(t, nil)
	resp, cancel := f.watch("/api/v1/watch/namespaces/x/configmaps?timeoutSeconds=1&resourceVersion=5")
	defer cancel()
	if !resp.Close {
		t.Error("the response does not announce the end of the connection")
	}
	if text, err := io.ReadAll(resp.Body); err != nil || len(text) != 0 {
		t.Errorf("%q %v", text, err)
	}
	f.waitForNoSession()
}

// TestWatchClientGoes tests that the server detects that the client of an idle watch has
// disconnected.
func TestWatchClientGoes(t *testing.T) {
	f := serve(t, nil)
	resp, cancel := f.watch(configMapsPath + "?watch=1")
	cancel()
	resp.Body.Close()
	f.waitForNoSession()
}

// TestExpiredWatch tests that a watch from an expired version receives an ERROR event, because
// clients would retry after any other response.
func TestExpiredWatch(t *testing.T) {
	f := serve(t, func(o *http.Options) { o.CBOR = true })
	const status = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 1 (10)","reason":"Expired","code":410}`
	for accept, begins := range map[string]string{
		"application/json": `{"type":"ERROR","object":` + status + "}\n",
		"application/json;as=Table;g=meta.platform.io;v=v1":                 `{"type":"ERROR","object":` + status + "}\n",
		"application/json;as=PartialObjectMetadata;g=meta.platform.io;v=v1": `{"type":"ERROR","object":` + status + "}\n",
		"application/vnd.platform.protobuf;stream=watch":                    "\x00\x00\x00",
		"application/cbor": "\xd9\xd9\xf7\xa2",
	} {
		for _, path := range []string{configMapsPath + "?watch=1&", "/api/v1/watch/namespaces/x/configmaps/a?"} {
			resp, cancel := f.watch(path+"resourceVersion=1", "Accept", accept)
			text, err := io.ReadAll(resp.Body) // the stream ends after the event
			if err != nil || !strings.HasPrefix(string(text), begins) || !bytes.Contains(text, []byte("ERROR")) || !bytes.Contains(text, []byte("Expired")) {
				t.Errorf("%s, %s: %q %v", accept, path, text, err)
			}
			cancel()
		}
	}
	_, r, _ := f.openWebSocket(configMapsPath+"?watch=1&resourceVersion=1", "")
	if first, text := readFrame(t, r); first != 0x81 || text != `{"type":"ERROR","object":`+status+"}\n" {
		t.Errorf("%x %q", first, text)
	}
	if first, _ := readFrame(t, r); first != 0x88 {
		t.Errorf("the WebSocket is not closed: %x", first)
	}
	f.waitForNoSession()
	for path, code := range map[string]int{"resourceVersion=x": 400, "resourceVersionMatch=Exact": 422, "labelSelector=;": 400, "timeoutSeconds=x": 400} {
		if resp, body := f.do("GET", configMapsPath+"?watch=1&"+path, ""); resp.StatusCode != code {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
	}
}

func TestShutdownEndsWatches(t *testing.T) {
	f := serve(t, nil)
	const n = 5
	ends := make(chan error, n)
	for range n {
		resp, cancel := f.watch(configMapsPath + "?watch=1&resourceVersion=5")
		defer cancel()
		go func() {
			_, err := io.ReadAll(resp.Body)
			ends <- err
		}()
	}
	f.stop()
	for range n {
		if err := <-ends; err != nil {
			t.Errorf("a watch ended with %v", err)
		}
	}
}

func TestSlowWatch(t *testing.T) {
	t.Parallel()
	f := serve(t, func(o *http.Options) { o.Limits.WriteTimeout = 3 * time.Second }) // shorter than the whole event takes
	c := must.Get(net.Dial("tcp", strings.TrimPrefix(f.url, "http://")))(t)
	defer c.Close()
	must.Succeed(t, c.(*net.TCPConn).SetReadBuffer(64<<10))
	_ = c.SetDeadline(time.Now().Add(5 * time.Minute))
	fmt.Fprintf(c, "GET %s?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n", configMapsPath)
	buf := make([]byte, 128<<10)
	must.Get(c.Read(buf[:1]))(t)
	large := meta.Object{JSON: []byte(`{"x":"` + strings.Repeat("x", 16<<20) + `"}`)}
	f.sendEvents(request.Event{Type: request.Added, Object: &large})
	for got := 0; got < len(large.JSON); {
		//lint:ignore walltime the client is slow on purpose
		time.Sleep(30 * time.Millisecond)
		n, err := io.ReadFull(c, buf[:min(len(buf), len(large.JSON)-got)])
		if got += n; err != nil {
			t.Fatalf("cut after %d bytes of %d: %v", got, len(large.JSON), err)
		}
	}
}

func TestShutdownEndsStalledWatch(t *testing.T) {
	t.Parallel()
	f := serve(t, func(o *http.Options) { o.Limits.WriteTimeout = time.Minute })
	resp, cancel := f.watch(configMapsPath + "?watch=1")
	defer cancel()
	defer resp.Body.Close()
	f.sendEvents(request.Event{Type: request.Added, Object: &meta.Object{JSON: []byte(`{"x":"` + strings.Repeat("x", 32<<20) + `"}`)}})
	if _, err := resp.Body.Read(make([]byte, 1)); err != nil { // the rest does not fit into the buffers
		t.Fatal(err)
	}
	f.stop()
}
