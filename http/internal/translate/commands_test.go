package translate

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
	"github.com/moby/spdystream"
	framing "github.com/moby/spdystream/spdy"
	"github.com/valyala/fasthttp"
	"go.uber.org/goleak"

	"github.com/troupe-api/troupe/internal/must"
)

func connect(t *testing.T) (here, there net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	defer l.Close()
	if here, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if there, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []net.Conn{here, there} {
		must.Succeed(t, c.SetDeadline(time.Now().Add(20*time.Second)))
		t.Cleanup(func() { _ = c.Close() })
	}
	return here, there
}

// runtime is the container runtime of a SPDY connection. It waits for the given number of streams,
// calls command, and closes the connection.
func runtime(t *testing.T, c net.Conn, streams int, command func(map[string]*spdystream.Stream)) {
	t.Helper()
	connection := must.Get(spdystream.NewConnection(c, true))(t)
	opened := make(chan *spdystream.Stream, streams)
	go connection.Serve(func(s *spdystream.Stream) {
		_ = s.SendReply(http.Header{}, false)
		opened <- s
	})
	go func() {
		defer c.Close()
		byType := map[string]*spdystream.Stream{}
		defer func() {
			for _, s := range byType {
				_ = s.Reset()
			}
		}()
		for range streams {
			s := <-opened
			byType[s.Headers().Get("Streamtype")] = s
		}
		command(byType)
	}()
}

// run runs a translator for a command. It returns the client's connection, and a channel that is
// closed once the translator has ended.
func run(t *testing.T, wanted Streams, streams int, command func(map[string]*spdystream.Stream)) (client net.Conn, done chan struct{}) {
	t.Helper()
	client, server := connect(t)
	backend, other := connect(t)
	runtime(t, other, streams, command)
	done = make(chan struct{})
	go func() {
		commands{wanted: wanted}.Run(server, backend)
		_, _ = server.Close(), backend.Close()
		close(done)
	}()
	return client, done
}

func readAll(t *testing.T, client net.Conn) map[byte]string {
	t.Helper()
	all := map[byte]string{}
	for {
		message, op, err := wsutil.ReadServerData(client)
		if err != nil {
			return all
		}
		if op != ws.OpBinary || len(message) == 0 {
			t.Fatalf("%v %q", op, message)
		}
		all[message[0]] += string(message[1:])
	}
}

func send(t *testing.T, client net.Conn, message string) {
	t.Helper()
	must.Succeed(t, wsutil.WriteClientMessage(client, ws.OpBinary, []byte(message)))
}

// TestCommand checks that each channel is connected to its stream, that the client can close the
// input, and that the status comes last.
func TestCommand(t *testing.T) {
	defer goleak.VerifyNone(t)
	client, done := run(t, Streams{Stdin: true, Stdout: true, Stderr: true}, 4, func(s map[string]*spdystream.Stream) {
		in, _ := io.ReadAll(s["stdin"])
		_, _ = s["stdout"].Write(bytes.ToUpper(in))
		_, _ = s["stderr"].Write([]byte("note"))
		_, _ = s["error"].Write([]byte("status"))
		for _, one := range s {
			_ = one.Close()
		}
	})
	send(t, client, "\x00hello ")
	send(t, client, "\x04{}") // a resize, although there is no terminal
	send(t, client, "\x07?")
	for i, part := range []string{"\x00wo", "r", "ld"} { // one message in three frames
		f := ws.NewFrame(ws.OpContinuation, i == 2, []byte(part))
		if i == 0 {
			f.Header.OpCode = ws.OpBinary
		}
		must.Succeed(t, ws.WriteFrame(client, ws.MaskFrame(f)))
	}
	send(t, client, "\xff\x00")
	all := readAll(t, client)
	if all[1] != "HELLO WORLD" || all[2] != "note" || all[3] != "status" {
		t.Errorf("%q", all)
	}
	<-done
}

func TestRuntimeLost(t *testing.T) {
	defer goleak.VerifyNone(t)
	client, done := run(t, Streams{Stdin: true, Stdout: true}, 3, func(s map[string]*spdystream.Stream) { _, _ = s["stdout"].Write([]byte("x")) })
	if all := readAll(t, client); !strings.Contains(all[3], `"Failure"`) || !strings.Contains(all[3], "was lost") {
		t.Errorf("%q", all)
	}
	<-done
}

// TestClientGone checks that a command ends if its client disconnects or violates the protocol,
// even with much pending output.
func TestClientGone(t *testing.T) {
	for name, last := range map[string]func(net.Conn){
		"closed":    func(c net.Conn) { _ = c.Close() },
		"malformed": func(c net.Conn) { _, _ = io.WriteString(c, "GET / HTTP/1.1\r\n\r\n") },
		"unmasked":  func(c net.Conn) { _ = ws.WriteFrame(c, ws.NewBinaryFrame([]byte("\x00x"))) },
	} {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			ended := make(chan struct{})
			client, done := run(t, Streams{Stdin: true, Stdout: true}, 3, func(s map[string]*spdystream.Stream) {
				defer close(ended)
				for {
					if _, err := s["stdout"].Write(make([]byte, 32<<10)); err != nil {
						return
					}
				}
			})
			if _, _, err := wsutil.ReadServerData(client); err != nil {
				t.Fatal(err)
			}
			last(client)
			<-ended
			_ = client.Close()
			<-done
		})
	}
}

func TestNotTranslated(t *testing.T) {
	var h fasthttp.RequestHeader
	h.Set("Sec-WebSocket-Version", "13")
	h.Set("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")
	if c, err := Commands(&h, []string{"v4.channel.k8s.io"}, Streams{}); c != nil || err != nil {
		t.Errorf("%v %v", c, err)
	}
	if p, err := Ports(&h, []string{"portforward.k8s.io", "SPDY/3.1+"}); p != nil || err != nil {
		t.Errorf("%v %v", p, err)
	}
	p := must.Get(Ports(&h, []string{"SPDY/3.1+portforward.k8s.io"}))(t)
	asked := http.Header{"Sec-Websocket-Key": {"x"}}
	if got := p.Ask(asked); got != "SPDY/3.1" || asked.Get("X-Stream-Protocol-Version") != "portforward.k8s.io" || asked.Get("Sec-Websocket-Key") != "" {
		t.Errorf("%s %v", got, asked)
	}
	h.Set("Sec-WebSocket-Key", "x")
	if _, err := Commands(&h, []string{"v5.channel.k8s.io"}, Streams{}); err == nil {
		t.Error("a malformed key is accepted")
	}
}

// A scriptedConn reads fixed bytes and counts the written ones.
type scriptedConn struct {
	net.Conn
	io.Reader
	out atomic.Int64
}

func (c *scriptedConn) Read(p []byte) (int, error)       { return c.Reader.Read(p) }
func (c *scriptedConn) Write(p []byte) (int, error)      { c.out.Add(int64(len(p))); return len(p), nil }
func (c *scriptedConn) Close() error                     { return nil }
func (c *scriptedConn) SetReadDeadline(time.Time) error  { return nil }
func (c *scriptedConn) SetWriteDeadline(time.Time) error { return nil }

// maxFuzzBytes limits the memory for the frames of one run. A frame may claim 16 MiB of data.
const maxFuzzBytes = 64 << 20

// FuzzSPDY checks that a translator ends with its connections, whatever frames they contain, and
// that the size of the input limits memory and output.
func FuzzSPDY(f *testing.F) {
	var frames bytes.Buffer
	framer := must.Get(framing.NewFramer(&frames, &frames))(f)
	for _, frame := range []framing.Frame{
		&framing.SettingsFrame{FlagIdValues: []framing.SettingsFlagIdValue{{Id: framing.SettingsMaxConcurrentStreams, Value: 1}}},
		&framing.SynReplyFrame{StreamId: 1}, &framing.DataFrame{StreamId: 1, Data: []byte("{}")}, &framing.SynStreamFrame{StreamId: 2, Headers: http.Header{"A": {"b"}}},
		&framing.PingFrame{Id: 1}, &framing.WindowUpdateFrame{StreamId: 1, DeltaWindowSize: 1}, &framing.HeadersFrame{StreamId: 1, Headers: http.Header{"A": {"b"}}},
		&framing.RstStreamFrame{StreamId: 1, Status: framing.Cancel}, &framing.GoAwayFrame{LastGoodStreamId: 1},
	} {
		start := frames.Len()
		must.Succeed(f, framer.WriteFrame(frame))
		f.Add(bytes.Clone(frames.Bytes()[start:]), []byte("\x82\x82\x00\x00\x00\x00\x00a"))
	}
	f.Add(bytes.Clone(frames.Bytes()), []byte("\x88\x80\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, runtime, input []byte) {
		before := allocated()
		synctest.Test(t, func(t *testing.T) {
			client, backend := &scriptedConn{Reader: bytes.NewReader(input)}, &scriptedConn{Reader: bytes.NewReader(runtime)}
			commands{wanted: Streams{Stdin: true, Stdout: true, Stderr: true}}.Run(client, backend)
			if n := client.out.Load(); n > int64(4*(len(runtime)+len(input))+1<<10) {
				t.Errorf("%x, %x: %d bytes were answered", runtime, input, n)
			}
		})
		if n := allocated() - before; n > maxFuzzBytes {
			t.Errorf("%x: %d MiB", runtime, n>>20)
		}
	})
}

func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
