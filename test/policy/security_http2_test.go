package policy

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/troupe-api/troupe/test/client"
)

// An http2Client is a connection for raw HTTP/2 frames. Its methods return an error if the server
// has closed the connection.
type http2Client struct {
	*http2.Framer
	conn net.Conn
	next uint32 // stream ID
}

// dialHTTP2 opens a connection. window is the initial window size of each stream, in bytes.
func (v *testServer) dialHTTP2(config *tls.Config, window uint32) (*http2Client, error) {
	config = config.Clone()
	config.NextProtos = []string{http2.NextProtoTLS}
	conn, err := tls.Dial("tcp", v.d.Addr().String(), config)
	if err != nil {
		return nil, err
	}
	c := &http2Client{Framer: http2.NewFramer(conn, conn), conn: conn, next: 1}
	c.AllowIllegalWrites = true
	c.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_, err = io.WriteString(conn, http2.ClientPreface)
	return c, errors.Join(err, conn.SetDeadline(time.Now().Add(client.Watchdog)),
		c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window}), c.WriteSettingsAck())
}

// http2Head encodes the header fields of a request. more alternates names and values.
func http2Head(method, path string, more ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	fields := append([]string{":method", method, ":scheme", "https", ":path", path, ":authority", "x"}, more...)
	for i := 0; i < len(fields); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}) // a buffer never fails
	}
	return b.Bytes()
}

// begin opens a stream with encoded header fields and returns its ID. If end is true, the request
// has no body.
func (c *http2Client) begin(head []byte, end bool) (uint32, error) {
	id := c.next
	c.next += 2
	first := head[:min(len(head), 16<<10)]
	err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: first, EndStream: end, EndHeaders: len(first) == len(head)})
	for rest := head[len(first):]; len(rest) > 0 && err == nil; {
		part := rest[:min(len(rest), 16<<10)]
		rest = rest[len(part):]
		err = c.WriteContinuation(id, len(rest) == 0, part)
	}
	return id, err
}

// end reads a stream to its end and returns the status code and body. If the stream did not end
// normally, code is "reset", "closed" or "open".
func (c *http2Client) end(stream uint32) (code, body string) {
	for {
		frame, err := c.ReadFrame()
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			return "open", body
		} else if err != nil {
			return "closed", body
		}
		if frame.Header().StreamID != stream {
			continue
		}
		ended := false
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			code, ended = frame.PseudoValue("status"), frame.StreamEnded()
		case *http2.DataFrame:
			body += string(frame.Data())
			ended = frame.StreamEnded()
		case *http2.RSTStreamFrame:
			return "reset", body
		}
		if ended {
			return code, body
		}
	}
}

// An http2Attack describes one attack. step runs repeatedly on a connection until it fails, and
// then on a new connection.
type http2Attack struct {
	window uint32
	silent bool // the attacker does not read
	ends   bool // the server must close the connection
	step   func(c *http2Client) error
}

// launch starts several attackers, each with its own connection. advance blocks until each attacker
// has completed more steps, which shows that the attack continues. stop ends the attack.
func (a *http2Attack) launch(v *testServer) (advance, stop func()) {
	var steps [4]atomic.Int64
	var closed atomic.Int64
	var stopped atomic.Bool
	var attacking sync.WaitGroup
	for i := range steps {
		attacking.Go(func() {
			for !stopped.Load() {
				c, err := v.dialHTTP2(v.anonymous(), a.window)
				if err != nil {
					continue // rejected, so try again
				}
				if !a.silent {
					attacking.Go(func() {
						for err := error(nil); err == nil || errors.As(err, &http2.StreamError{}); {
							_, err = c.ReadFrame()
						}
						_ = c.conn.Close()
					})
				}
				for err == nil && !stopped.Load() {
					err = a.step(c)
					steps[i].Add(1)
				}
				if err != nil {
					closed.Add(1)
				}
				_ = c.conn.Close()
			}
		})
	}
	advance = func() {
		v.t.Helper()
		for i := range steps {
			from := steps[i].Load()
			if !client.Poll(func() bool { return steps[i].Load() >= from+20 }) {
				v.t.Fatalf("attacker %d has stopped", i)
			}
		}
		if a.ends && !client.Poll(func() bool { return closed.Load() > 0 }) {
			v.t.Fatal("the server does not close the connection")
		}
	}
	return advance, func() {
		stopped.Store(true)
		attacking.Wait()
	}
}

// TestHTTP2Attacks checks that the server serves an administrator while clients abuse HTTP/2. Each
// attack lasts until the administrator's requests are complete.
func TestHTTP2Attacks(t *testing.T) {
	v := start(t, client.SpeakHTTP2, createUsers(t, "jane"))
	v.grant("reader", "jane", `{"apiGroups":[""],"resources":["configmaps"],"verbs":["*"]}`)
	v.must(201, "POST", configMaps, typeJSON, fmt.Sprintf(`{"metadata":{"name":"large"},"data":{"text":%q}}`, strings.Repeat("x", 100<<10)))
	const window = 64 << 10
	jane := []string{"authorization", "Bearer " + credential("jane"), "content-type", typeJSON}
	version, long := http2Head("GET", "/version"), http2Head("GET", "/"+strings.Repeat("x", 30<<10))
	list, watch := http2Head("GET", configMaps, jane...), http2Head("GET", configMaps+"?watch=1", jane...)
	begin := func(head []byte, end bool) func(*http2Client) error {
		return func(c *http2Client) error {
			_, err := c.begin(head, end)
			return err
		}
	}
	reset := func(head []byte) func(*http2Client) error {
		return func(c *http2Client) error {
			id, err := c.begin(head, true)
			return errors.Join(err, c.WriteRSTStream(id, http2.ErrCodeCancel))
		}
	}
	endless := func(part []byte) func(*http2Client) error {
		return func(c *http2Client) error {
			if c.next == 1 {
				c.next += 2
				return c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: version})
			}
			return c.WriteContinuation(1, false, part)
		}
	}
	flood := func(frame func(*http2.Framer) error) func(*http2Client) error {
		var frames bytes.Buffer
		for f := http2.NewFramer(&frames, nil); frames.Len() < 16<<10; {
			_ = frame(f) // a buffer never fails
		}
		return func(c *http2Client) error {
			_, err := c.conn.Write(frames.Bytes())
			return err
		}
	}
	for name, attack := range map[string]http2Attack{
		"rapid reset":            {window, false, false, reset(version)},
		"rapid reset of lists":   {window, false, false, reset(list)},
		"rapid reset of watches": {window, false, false, reset(watch)},
		"resets by the server": {window, false, false, func(c *http2Client) error {
			id, err := c.begin(list, true)
			return errors.Join(err, c.WriteRawFrame(http2.FrameWindowUpdate, 0, id, make([]byte, 4)))
		}},
		"endless CONTINUATION":         {window, false, true, endless(long[:16<<10])},
		"empty CONTINUATION":           {window, false, false, endless(nil)},
		"flood of PING":                {window, true, true, flood(func(f *http2.Framer) error { return f.WritePing(false, [8]byte{}) })},
		"flood of SETTINGS":            {window, true, false, flood(func(f *http2.Framer) error { return f.WriteSettings() })},
		"no window":                    {0, false, false, begin(version, true)},
		"no window for long paths":     {0, false, false, begin(long, true)},
		"no window for a user":         {0, false, false, begin(list, true)},
		"no window of the connection":  {1 << 30, true, false, begin(list, true)},
		"bodies that do not arrive":    {window, false, false, begin(http2Head("POST", configMaps, append(jane, "content-length", "1000000")...), false)},
		"bodies of unidentified users": {window, false, false, begin(http2Head("POST", configMaps, "content-length", "1000000"), false)},
	} {
		t.Run(name, func(t *testing.T) {
			v := *v
			v.t = t
			advance, stop := attack.launch(&v)
			defer stop()
			advance()
			// Use new connections and one from before the attack.
			object := strings.ReplaceAll(strings.ToLower(name), " ", "-")
			v.must(201, "POST", configMaps, typeJSON, configMap(object))
			if got := v.raw(v.admin(), "GET "+configMaps+"?limit=5 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); got.code != 200 {
				t.Errorf("a list: %d %s", got.code, got.body)
			}
			if code, body := v.askHTTP2(v.admin(), http2Head("GET", configMaps+"/"+object)); code != "200" {
				t.Errorf("a get over HTTP/2: %s %s", code, body)
			}
			advance()
		})
	}
}

// TestHTTP2Crowd checks that unauthenticated clients that never open their flow-control windows
// cannot shut out others. The server evicts their oldest requests, and serves an administrator and
// new clients at the same address.
func TestHTTP2Crowd(t *testing.T) {
	v := start(t, client.SpeakHTTP2)
	const fewest, most, streams = 50, 200, 100
	for _, path := range []string{"/version", "/" + strings.Repeat("x", 10<<10)} {
		before := v.evicted()
		for opened := 0; opened < fewest || v.evicted() == before; opened++ {
			if opened == most {
				t.Fatalf("%d requests are held", most*streams)
			}
			c, err := v.dialHTTP2(v.anonymous(), 0)
			if err != nil {
				t.Fatal(err)
			}
			defer c.conn.Close()
			for range streams {
				if _, err := c.begin(http2Head("GET", path), true); err != nil {
					t.Fatal(err)
				}
			}
			for answered := map[uint32]bool{}; len(answered) < streams; { // answered by headers or a reset
				frame, err := c.ReadFrame()
				if err != nil {
					t.Fatal(err)
				}
				if id := frame.Header().StreamID; id > 0 {
					answered[id] = true
				}
			}
		}
		v.must(201, "POST", configMaps, typeJSON, `{"metadata":{"generateName":"a-"}}`)
		if got := v.raw(v.anonymous(), "GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); got.code != 200 {
			t.Errorf("a new client: %d %s", got.code, got.body)
		}
		for name, config := range map[string]*tls.Config{"a new client": v.anonymous(), "an administrator": v.admin()} {
			if code, body := v.askHTTP2(config, http2Head("GET", "/version")); code != "200" {
				t.Errorf("%s over HTTP/2: %s %s", name, code, body)
			}
		}
	}
}

// evicted returns the number of connections and requests that the server has evicted.
func (v *testServer) evicted() int {
	v.t.Helper()
	text := v.must(200, "GET", "/metrics", "", "")
	found := regexp.MustCompile(`troupe_connections_refused_total\{reason="oldest"\} (\d+)`).FindStringSubmatch(text)
	if found == nil {
		v.t.Fatal("no metric")
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		v.t.Fatal(err)
	}
	return n
}

// TestLongPaths checks that error messages do not repeat long paths and names.
func TestLongPaths(t *testing.T) {
	v := start(t, client.SpeakHTTP2)
	for _, path := range []string{
		"/" + strings.Repeat("x", 20<<10), "/" + strings.Repeat("%ff", 7<<10), "/api/v1/" + strings.Repeat("x", 20<<10),
		configMaps + "/" + strings.Repeat("x", 20<<10), "/api/v1/namespaces/" + strings.Repeat("x", 20<<10) + "/pods",
		configMaps + "/a/" + strings.Repeat("x", 20<<10), "/apis/" + strings.Repeat("x", 20<<10) + "/v1/things",
	} {
		if got := v.raw(v.anonymous(), "GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); got.code != 403 || len(got.body) > 12<<10 {
			t.Errorf("%.60s: %d with %d bytes", path, got.code, len(got.body))
		}
		if code, body := v.askHTTP2(v.anonymous(), http2Head("GET", path)); code != "403" || len(body) > 12<<10 {
			t.Errorf("%.60s over HTTP/2: %s with %d bytes", path, code, len(body))
		}
	}
}

func (v *testServer) askHTTP2(config *tls.Config, head []byte) (code, body string) {
	v.t.Helper()
	c, err := v.dialHTTP2(config, 1<<20)
	if err != nil {
		v.t.Fatal(err)
	}
	defer c.conn.Close()
	id, err := c.begin(head, true)
	if err != nil {
		v.t.Fatal(err)
	}
	return c.end(id)
}
