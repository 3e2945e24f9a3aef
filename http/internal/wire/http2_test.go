package wire

import (
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/internal/must"
)

type recordedAnswer struct {
	header  http.Header
	text    strings.Builder // code, headers and body
	flushes int
}

func (a *recordedAnswer) Header() http.Header { return a.header }

func (a *recordedAnswer) WriteHeader(code int) {
	a.text.WriteString(http.StatusText(code) + "\n")
	for _, name := range slices.Sorted(maps.Keys(a.header)) {
		for _, value := range a.header[name] {
			a.text.WriteString(name + "=" + value + "\n")
		}
	}
}

func (a *recordedAnswer) Write(b []byte) (int, error)      { return a.text.Write(b) }
func (a *recordedAnswer) FlushError() error                { a.flushes++; return nil }
func (a *recordedAnswer) SetReadDeadline(time.Time) error  { return nil }
func (a *recordedAnswer) SetWriteDeadline(time.Time) error { return nil }

// TestAnswersOfStreams tests that HTTP/1.1 responses are converted to HTTP/2, regardless of write
// boundaries, and that incomplete responses are detected.
func TestAnswersOfStreams(t *testing.T) {
	t.Parallel()
	const chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, test := range map[string]struct {
		answer   string
		bodiless bool
		want     string // "" means an error
		whole    bool
	}{
		"length":        {"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 3\r\nConnection: close\r\nX: 1\r\nX:2\r\n\r\nabc", false, "OK\nContent-Length=3\nContent-Type=a/b\nX=1\nX=2\nabc", true},
		"cut":           {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", false, "OK\nContent-Length=4\nabc", false},
		"head only":     {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n", false, "", false},
		"of HEAD":       {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", true, "OK\nContent-Length=4\n", true},
		"chunked HEAD":  {chunkedHead, true, "OK\n", true},
		"no content":    {"HTTP/1.1 204 No Content\r\n\r\n", false, "No Content\n", true},
		"not modified":  {"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", false, "Not Modified\n", true},
		"behind 100":    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", false, "Not Found\nContent-Length=0\n", true},
		"chunks":        {chunkedHead + "3\r\nabc\r\n0A\r\n0123456789\r\n0\r\n\r\n", false, "OK\nabc0123456789", true},
		"line ends":     {chunkedHead + "4\r\n\r\n\r\n\r\n0\r\n\r\n", false, "OK\n\r\n\r\n", true},
		"no last chunk": {chunkedHead + "3\r\nabc\r\n", false, "OK\nabc", false},
		"half a chunk":  {chunkedHead + "3\r\nab", false, "OK\nab", false},
		"half an end":   {chunkedHead + "3\r\nabc\r\n0\r\n", false, "OK\nabc", false},
		"no size":       {chunkedHead + "x\r\n", false, "", false},
		"no code":       {"HTTP/1.1 OK\r\n\r\n", false, "", false},
		"no name":       {"HTTP/1.1 200 OK\r\nname\r\n\r\n", false, "", false},
		"no length":     {"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", false, "", false},
		"no type":       {"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", false, "OK\nContent-Length=6\n<html>", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for size := 1; size <= len(test.answer); size++ {
				a := answerReader{bodiless: test.bodiless}
				got := recordedAnswer{header: http.Header{}}
				var err error
				for rest := test.answer; rest != "" && err == nil; {
					part := rest[:min(size, len(rest))]
					rest = rest[len(part):]
					err = a.write(&got, []byte(part))
				}
				if failed := err != nil; failed != (test.want == "" && name != "head only") || !failed && got.text.String() != test.want || a.whole() != test.whole {
					t.Fatalf("in parts of %d: %q, %v, whole: %v", size, got.text.String(), err, a.whole())
				}
			}
		})
	}
}

func TestHeadsOfStreams(t *testing.T) {
	t.Parallel()
	request := func(method, target string, length int64, header http.Header) *http.Request {
		return &http.Request{Method: method, RequestURI: target, Host: "host:1", ContentLength: length, Header: header}
	}
	for want, r := range map[string]*http.Request{
		"GET /a%2fb?x=%00 HTTP/1.1\r\nHost: host:1\r\n\r\n":                                          request("GET", "/a%2fb?x=%00", 0, nil),
		"POST /a HTTP/1.1\r\nHost: host:1\r\nContent-Length: 5\r\n\r\n":                              request("POST", "/a", 5, http.Header{"Content-Length": {"5"}}),
		"POST /a HTTP/1.1\r\nHost: host:1\r\nContent-Length: 0\r\n\r\n":                              request("POST", "/a", 0, http.Header{"Content-Length": {"0"}}),
		"POST /a HTTP/1.1\r\nHost: host:1\r\nTransfer-Encoding: chunked\r\n\r\n":                     request("POST", "/a", -1, nil),
		"DELETE /a HTTP/1.1\r\nHost: host:1\r\nImpersonate-Group: a\r\nImpersonate-Group: b\r\n\r\n": request("DELETE", "/a", 0, http.Header{"Impersonate-Group": {"a", "b"}}),
		"CONNECT host:1 HTTP/1.1\r\nHost: host:1\r\n\r\n":                                            request("CONNECT", "", 0, nil),
	} {
		if got := string(appendHead(nil, r)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestBodiesOfStreams(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("0123456789abcdef", 3000)
	s := &stream{}
	s.begin(&recordedAnswer{}, &http.Request{Method: "POST", RequestURI: "/", Host: "h", ContentLength: -1, Body: io.NopCloser(strings.NewReader(body))})
	var got strings.Builder
	for b := make([]byte, 1000); !strings.HasSuffix(got.String(), "\r\n0\r\n\r\n"); {
		n := must.Get(s.Read(b))(t)
		got.Write(b[:n])
	}
	want := "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4000\r\n" + body[:16<<10] + "\r\n4000\r\n" + body[16<<10:32<<10] + "\r\n3b80\r\n" + body[32<<10:] + "\r\n0\r\n\r\n"
	if got.String() != want {
		t.Errorf("%q", got.String())
	}
}

// TestUnknownStreams tests the limit for HTTP/2 requests before authentication. If an address
// exceeds its share, its oldest request must end.
func TestUnknownStreams(t *testing.T) {
	t.Parallel()
	ledger := limits.NewLedger(limits.Capacities{limits.Streams: 4})
	all := New(Options{MaxConnections: 10, Ledger: ledger, NewHandler: func(*Conn) Handler { return nil }})
	client, server := net.Pipe()
	defer client.Close()
	m := &multiplexer{conn: newConn(&addressedConn{server, "192.0.2.1"}, all)}
	known := m.take()
	known.SetUser("joe", false)
	if n := ledger.Used(limits.Streams); n != 0 {
		t.Errorf("%d are counted", n)
	}
	first, second := m.take(), m.take()
	third := m.take()
	if first == nil || second == nil || third == nil {
		t.Fatal("a request is not admitted")
	}
	if first.stream.unknown != nil || second.stream.unknown == nil || third.stream.unknown == nil || ledger.Used(limits.Streams) != 2 {
		t.Error("it is not the oldest request that makes room")
	}
	m.gone.L = &m.mu
	m.give(third, true)
	if n := ledger.Used(limits.Streams); n != 1 {
		t.Errorf("%d are left", n)
	}
	m.give(known, true)
	if c := m.take(); c != known || c.stream.unknown != nil {
		t.Error("the one whose client is known is not used again first, or counts")
	}
}

type addressedConn struct {
	net.Conn
	address string
}

func (c *addressedConn) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.ParseIP(c.address), Port: 1}
}

type waitingBody struct {
	recordedAnswer
	asked, ended chan struct{}
}

func (b *waitingBody) Read([]byte) (int, error) {
	close(b.asked)
	<-b.ended
	return 0, os.ErrDeadlineExceeded
}

func (b *waitingBody) Close() error { return nil }

func (b *waitingBody) SetReadDeadline(time.Time) error {
	close(b.ended)
	return nil
}

func TestDeadlinesOfStreams(t *testing.T) {
	t.Parallel()
	b := &waitingBody{asked: make(chan struct{}), ended: make(chan struct{})}
	s := &stream{}
	s.begin(b, &http.Request{Method: "POST", ContentLength: 5, Body: b})
	s.head = nil
	read := make(chan error, 1)
	go func() {
		_, err := s.Read(make([]byte, 5))
		read <- err
	}()
	<-b.asked
	must.Succeed(t, s.SetReadDeadline(longAgo))
	select {
	case err := <-read:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
	case <-time.After(5 * time.Minute):
		t.Fatal("it waits on")
	}
}

// TestEndOfStreams tests that using a stream after its request fails without affecting later
// requests. Watches that are closed late do this.
func TestEndOfStreams(t *testing.T) {
	t.Parallel()
	s := &stream{}
	for _, length := range []int64{-1, 0, 5} {
		s.begin(&recordedAnswer{}, &http.Request{Method: "POST", ContentLength: length, Body: io.NopCloser(iotest.ErrReader(http.ErrBodyReadAfterClose))})
		s.head = nil
		s.readOps = 1
		must.Succeed(t, s.Close())
		s.awaitRelease(false)
		if s.finish(false) {
			t.Error("it is whole")
		}
		s.expireRead(s.readOps)
		if err := s.SetDeadline(longAgo); err != nil {
			t.Error(err)
		}
		s.readOps = 0
		if n, err := s.Read(make([]byte, 5)); n > 0 || err == nil {
			t.Errorf("%d bytes are read", n)
		}
		if _, err := s.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	}
}

func TestMemoryOfStreams(t *testing.T) {
	t.Parallel()
	s := &stream{}
	s.begin(&recordedAnswer{header: http.Header{}}, &http.Request{Method: "POST", ContentLength: -1, Header: http.Header{"X": {strings.Repeat("x", 30<<10)}}, Body: io.NopCloser(strings.NewReader(strings.Repeat("x", maxStreamChunk)))})
	must.Get(io.CopyN(io.Discard, s, 40<<10))(t)
	must.Get(s.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n" + strings.Repeat("x", 32<<10))))(t)
	s.finish(true)
	if n := cap(s.headBuf) + cap(s.head) + cap(s.chunk) + cap(s.answer.head); n > readBufferSize {
		t.Errorf("%d bytes are kept", n)
	}
}
