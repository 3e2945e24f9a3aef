package http_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	nethttp "net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/internal/must"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// serveHTTP2 starts a server with HTTP/2, and a client with a certificate for user joe.
func serveHTTP2(t *testing.T, change func(*http.Options)) *testServer {
	t.Helper()
	f := serve(t, func(o *http.Options) {
		withTLS(t)(o)
		o.Limits.HTTP2MaxStreams = 100
		if change != nil {
			change(o)
		}
	})
	f.url = strings.Replace(f.url, "http:", "https:", 1)
	f.client = &nethttp.Client{Transport: &nethttp.Transport{TLSClientConfig: clientConfig(t), ForceAttemptHTTP2: true, DisableCompression: true}}
	return f
}

func clientConfig(t *testing.T) *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{certificate(t, "joe")}}
}

type frames struct {
	*testing.T
	*http2.Framer
	conn *tls.Conn
}

func (f *testServer) dialHTTP2(t *testing.T, window uint32) *frames {
	t.Helper()
	config := clientConfig(t)
	config.NextProtos = []string{"h2"}
	c, err := tls.Dial("tcp", strings.TrimPrefix(f.url, "https://"), config)
	must.Succeed(t, err)
	t.Cleanup(func() { c.Close() })
	must.Succeed(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	s := &frames{t, http2.NewFramer(c, c), c}
	s.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_, err = io.WriteString(c, http2.ClientPreface)
	s.check(errors.Join(err, s.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window}), s.WriteSettingsAck()))
	return s
}

func (s *frames) check(err error) {
	s.Helper()
	must.Succeed(s, err)
}

// ask sends a request head. fields alternates header names and values.
func (s *frames) ask(stream uint32, end bool, fields ...string) {
	s.Helper()
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		s.check(e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}))
	}
	first := b.Next(min(b.Len(), 16<<10))
	s.check(s.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: first, EndStream: end, EndHeaders: b.Len() == 0}))
	for b.Len() > 0 {
		part := b.Next(16 << 10)
		s.check(s.WriteContinuation(stream, b.Len() == 0, part))
	}
}

// await reads frames until the stream ends, and returns the status code of the response. If the
// response is incomplete, it returns how the stream or connection ended, such as "closed" or "200,
// reset".
func (s *frames) await(stream uint32) string {
	s.Helper()
	code := "nothing"
	for {
		frame, err := s.ReadFrame()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return "open"
		}
		if err != nil {
			return "closed"
		}
		if _, ok := frame.(*http2.GoAwayFrame); ok {
			return "closed"
		}
		if frame.Header().StreamID != stream {
			continue
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			code = frame.PseudoValue("status")
			if frame.StreamEnded() {
				return code
			}
		case *http2.DataFrame:
			if frame.StreamEnded() {
				return code
			}
		case *http2.RSTStreamFrame:
			return code + ", reset"
		}
	}
}

func TestHTTP2(t *testing.T) {
	f := serveHTTP2(t, nil)
	if resp, body := f.do("POST", configMapsPath, configMap("a")); resp.StatusCode != 201 || resp.ProtoMajor != 2 || resp.Header.Get("Audit-Id") == "" || resp.Header.Get("Connection") != "" {
		t.Fatalf("%s %v %s", resp.Proto, resp.Header, body)
	}
	large := `{"metadata":{"name":"large"},"data":{"k":"` + strings.Repeat("x", 900<<10) + `"}}`
	if resp, body := f.do("POST", configMapsPath, large); resp.StatusCode != 201 || !strings.Contains(body, strings.Repeat("x", 900<<10)) {
		t.Errorf("a large one: %d, %d bytes", resp.StatusCode, len(body))
	}
	unknown, err := f.client.Post(f.url+configMapsPath, "application/json", io.MultiReader(strings.NewReader(configMap("unknown")[:20]), strings.NewReader(configMap("unknown")[20:])))
	if err != nil || unknown.StatusCode != 201 {
		t.Fatalf("of unknown length: %v, %v", unknown, err)
	}
	unknown.Body.Close()
	if resp, body := f.do("HEAD", configMapsPath+"/a", ""); resp.StatusCode != 405 && resp.StatusCode != 200 || body != "" {
		t.Errorf("HEAD: %d %q", resp.StatusCode, body)
	}
	if resp, body := f.do("GET", configMapsPath, ""); resp.StatusCode != 200 || len(body) < 900<<10 || !strings.HasSuffix(body, "}\n") {
		t.Errorf("list: %d, %d bytes", resp.StatusCode, len(body))
	}

	const watches = 90
	var watching sync.WaitGroup
	for range watches {
		resp, cancel := f.watch(configMapsPath + "?watch=1")
		watching.Go(func() {
			defer cancel()
			line := make([]byte, 10)
			if _, err := io.ReadFull(resp.Body, line); err != nil || string(line) != `{"type":"A` {
				t.Errorf("%q, %v", line, err)
			}
		})
	}
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			for range 100 {
				resp, err := f.client.Get(f.url + configMapsPath + "/a")
				if err != nil || resp.StatusCode != 200 {
					t.Errorf("%v, %v", resp, err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	asking.Wait()
	f.do("POST", configMapsPath, configMap("b"))
	watching.Wait()
	eventually(t, "sessions outlive the clients of their watches", func() bool { return f.store.openSessions() == 0 })
}

// TestHTTP2Shutdown tests that during a shutdown, watches end normally, pending requests
// complete, and clients receive a GOAWAY.
func TestHTTP2Shutdown(t *testing.T) {
	f := serveHTTP2(t, nil)
	resp, cancel := f.watch(configMapsPath + "?watch=1")
	defer cancel()
	asked, answer, answered := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	f.store.beforeGet = func() {
		close(asked)
		<-answer
	}
	go func() {
		resp, err := f.client.Get(f.url + configMapsPath + "/a")
		if err == nil {
			defer resp.Body.Close()
			if resp.StatusCode != 404 {
				err = errors.New(resp.Status)
			}
		}
		answered <- err
	}()
	<-asked
	ended := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		ended <- f.server.Shutdown(ctx)
	}()
	if text, err := io.ReadAll(resp.Body); err != nil || len(text) > 0 {
		t.Errorf("the watch: %q, %v", text, err)
	}
	close(answer)
	if err := errors.Join(<-answered, <-ended); err != nil {
		t.Error(err)
	}
}

// TestHTTP2Clients tests that a protocol violation affects only the client's own streams or
// connection.
func TestHTTP2Clients(t *testing.T) {
	t.Parallel()
	patient, short := serveHTTP2(t, nil), serveHTTP2(t, func(o *http.Options) {
		o.Limits.ReadTimeout, o.Limits.WriteTimeout = time.Second, time.Second
	})
	large := `{"metadata":{"name":"large"},"data":{"k":"` + strings.Repeat("x", 200<<10) + `"}}`
	for _, f := range []*testServer{patient, short} {
		f.do("POST", configMapsPath, configMap("a"))
		f.do("POST", configMapsPath, large)
	}
	const window = 64 << 10
	get := func(path string, more ...string) []string {
		return append([]string{":method", "GET", ":scheme", "https", ":path", path, ":authority", "x"}, more...)
	}
	for name, test := range map[string]struct {
		f      *testServer // has long timeouts, unless the test waits for one
		window uint32
		end    bool
		fields []string
		data   string
		want   string
	}{
		"well":                  {patient, window, true, get(configMapsPath + "/a"), "", "200"},
		"a space in the path":   {patient, window, true, get("/api /v1"), "", "400"},
		"a space in the method": {patient, window, true, []string{":method", "GET /", ":scheme", "https", ":path", "/", ":authority", "x"}, "", "400"},
		"no path":               {patient, window, true, []string{":method", "GET", ":scheme", "https"}, "", "nothing, reset"},
		"another length":        {patient, window, true, get("/version", "content-length", "5"), "", "400"},
		"two lengths":           {patient, window, false, get("/version", "content-length", "2", "content-length", "2"), "{}", "400"},
		"no number as a length": {patient, window, true, get("/version", "content-length", "x"), "", "400"},
		"a list of lengths":     {patient, window, true, get("/version", "content-length", "0, 0"), "", "400"},
		"transfer-encoding":     {patient, window, true, get("/version", "transfer-encoding", "chunked"), "", "400"},
		"upgrade":               {patient, window, true, get("/version", "upgrade", "websocket", "connection", "upgrade"), "", "400"},
		"a large head":          {patient, window, true, get("/version", "x", strings.Repeat("x", 20<<10)), "", "200"},
		"too large a head":      {patient, window, true, get("/version", "x", strings.Repeat("x", 32_900)), "", "431"},
		"CONNECT":               {patient, window, true, []string{":method", "CONNECT", ":authority", "x:1"}, "", "400"},
		"trailers":              {patient, window, false, []string{":method", "POST", ":scheme", "https", ":authority", "x", ":path", configMapsPath, "content-type", "application/json"}, configMap("b"), "201"},
		"a body that stops":     {short, window, false, []string{":method", "POST", ":scheme", "https", ":authority", "x", ":path", configMapsPath, "content-length", "100"}, "{", "408"},
		"an unread body":        {patient, window, false, get("/version"), "", "200"},
		"a host":                {patient, window, true, get("/version", "host", "x"), "", "200"},
		"another host":          {patient, window, true, get("/version", "host", "y"), "", "400"},
		"two hosts":             {patient, window, true, get("/version", "host", "x", "host", "x"), "", "400"},
		"only two hosts":        {patient, window, true, []string{":method", "GET", ":scheme", "https", ":path", "/version", "host", "x", "host", "y"}, "", "400"},
		"two authorities":       {patient, window, true, append([]string{":authority", "x"}, get("/version")...), "", "nothing, reset"},
		"only a host":           {patient, window, true, []string{":method", "GET", ":scheme", "https", ":path", "/version", "host", "x"}, "", "200"},
		"no window":             {short, 0, true, get(configMapsPath + "/a"), "", "200, reset"},
		"a window for a part":   {short, 1000, true, get(configMapsPath + "/large"), "", "200, reset"},
	} {
		t.Run(name, func(t *testing.T) {
			s := test.f.dialHTTP2(t, test.window)
			s.ask(1, test.end, test.fields...)
			if test.data != "" {
				s.check(s.WriteData(1, false, []byte(test.data)))
			}
			if name == "trailers" {
				s.ask(1, true, "x-trailer", "y")
			}
			if got := s.await(1); got != test.want {
				t.Fatalf("%s, want %s", got, test.want)
			}
			// Open and reset many more streams. The connection must stay open, and the reset
			// streams must not count against its limits.
			for stream := uint32(3); stream < 300; stream += 2 {
				s.ask(stream, true, get("/version")...)
				s.check(s.WriteRSTStream(stream, http2.ErrCodeCancel))
			}
			s.ask(301, true, ":method", "HEAD", ":scheme", "https", ":path", "/version", ":authority", "x")
			if got := s.await(301); got != "200" && got != "405" {
				t.Errorf("after that: %s", got)
			}
		})
	}
	for _, f := range []*testServer{patient, short} {
		if resp, body := f.do("GET", configMapsPath+"/a", ""); resp.StatusCode != 200 {
			t.Errorf("%d %s", resp.StatusCode, body)
		}
	}
}

// TestHTTP2UnreadRejections tests that a client cannot keep a connection open by not reading the
// HTTP/2 library's rejections.
func TestHTTP2UnreadRejections(t *testing.T) {
	t.Parallel()
	f := serveHTTP2(t, func(o *http.Options) { o.Limits.IdleTimeout, o.Limits.WriteTimeout = time.Second, time.Second })
	for name, header := range map[string][]string{"too large a head": {"x", strings.Repeat("x", 40_000)}, "upgrade": {"connection", "upgrade"}} {
		s := f.dialHTTP2(t, 0)
		s.ask(1, true, append([]string{":method", "GET", ":scheme", "https", ":path", "/version", ":authority", "x"}, header...)...)
		if got := s.await(1); got != "closed" && got != "431, reset" && got != "400, reset" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestHTTP2Silence tests that a client is disconnected if it negotiates HTTP/2 but does not send
// the connection preface in time.
func TestHTTP2Silence(t *testing.T) {
	t.Parallel()
	f := serveHTTP2(t, func(o *http.Options) { o.Limits.ReadTimeout = 300 * time.Millisecond })
	for _, sent := range []string{"", http2.ClientPreface[:20], "GET /version HTTP/1.1\r\nHost: x\r\n\r\n"} {
		config := clientConfig(t)
		config.NextProtos = []string{"h2"}
		c, err := tls.Dial("tcp", strings.TrimPrefix(f.url, "https://"), config)
		must.Succeed(t, err)
		_, err = io.WriteString(c, sent)
		if err = errors.Join(err, c.SetDeadline(time.Now().Add(10*time.Second))); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("after %q: %d bytes, %v", sent, n, err)
		}
		c.Close()
	}
}

func TestHTTP2Continue(t *testing.T) {
	f := serveHTTP2(t, nil)
	for path, want := range map[string]string{"/version": "200", configMapsPath: "100"} {
		s := f.dialHTTP2(t, 64<<10)
		method := map[string]string{"200": "GET", "100": "POST"}[want]
		s.ask(1, false, ":method", method, ":scheme", "https", ":path", path, ":authority", "x", "content-type", "application/json", "content-length", "100", "expect", "100-continue")
		for {
			frame, err := s.ReadFrame()
			s.check(err)
			if head, ok := frame.(*http2.MetaHeadersFrame); ok {
				if got := head.PseudoValue("status"); got != want {
					t.Errorf("%s: %s, want %s", path, got, want)
				}
				break
			}
		}
	}
}

func TestHTTP2Users(t *testing.T) {
	f := serveHTTP2(t, func(o *http.Options) { o.Authenticator = tokenAuthenticator{} })
	var asking sync.WaitGroup
	for _, user := range []struct {
		token string
		want  int
	}{{"joe", 200}, {"jane", 403}, {"bad", 401}} {
		for range 4 {
			asking.Go(func() {
				for range 50 {
					if resp, body := f.do("GET", configMapsPath, "", "Authorization", "Bearer "+user.token); resp.StatusCode != user.want {
						t.Errorf("%s: %d %s", user.token, resp.StatusCode, body)
					}
				}
			})
		}
	}
	asking.Wait()
}

func TestNoHTTP2(t *testing.T) {
	f := serveHTTP2(t, func(o *http.Options) { o.Limits.HTTP2MaxStreams = 0 })
	if resp, _ := f.do("GET", configMapsPath, ""); resp.StatusCode != 200 || resp.ProtoMajor != 1 {
		t.Errorf("%s %d", resp.Proto, resp.StatusCode)
	}
}
