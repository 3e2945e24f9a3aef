package simulation

import (
	"context"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

// WebSocket channels of a command. The first byte of a message is its channel.
const (
	channelStdin = iota
	channelStdout
	channelStderr
	channelStatus
)

// webSocketProtocols lists the kubelet's WebSocket subprotocols. In the base64 variants, each
// message is text and begins with the channel's digit.
var webSocketProtocols = []string{"v4.channel.k8s.io", "v4.base64.channel.k8s.io", "channel.k8s.io", "base64.channel.k8s.io"}

func serveWebSocket(w http.ResponseWriter, r *http.Request, want wanted, run func(*session) int) {
	upgrader := ws.HTTPUpgrader{Protocol: func(p string) bool { return slices.Contains(webSocketProtocols, p) }}
	conn, _, agreed, err := upgrader.Upgrade(r, w)
	if err != nil {
		return // Upgrade has responded
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := &channels{conn: conn, base64: strings.Contains(agreed.Protocol, "base64")}
	in, input := io.Pipe()
	go func() {
		defer cancel()
		_ = input.CloseWithError(c.read(input))
	}()
	defer in.Close()
	s := &session{ctx: ctx, stdout: io.Discard, stderr: io.Discard, tty: want.tty}
	if want.stdin {
		s.stdin = in
	} else {
		go func() { _, _ = io.Copy(io.Discard, in) }() // until the client is gone
	}
	for _, out := range []struct {
		wanted bool
		number byte
		writer *io.Writer
	}{{want.stdout, channelStdout, &s.stdout}, {want.stderr, channelStderr, &s.stderr}} {
		if out.wanted {
			*out.writer = channel{c, out.number}
			c.send(out.number, nil) // announces the open channel
		}
	}
	code := run(s)
	if strings.HasPrefix(agreed.Protocol, "v4.") || code != 0 {
		c.send(channelStatus, exitStatus(code))
	}
	c.close()
	awaitClose(ctx)
}

// channels multiplexes the channels of one WebSocket. mu serializes writes.
type channels struct {
	conn   net.Conn
	base64 bool
	mu     sync.Mutex
}

func (c *channels) send(number byte, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.base64 {
		text := append([]byte{'0' + number}, base64.StdEncoding.EncodeToString(data)...)
		_ = wsutil.WriteServerMessage(c.conn, ws.OpText, text) // the client may be gone, here and below
		return
	}
	_ = wsutil.WriteServerMessage(c.conn, ws.OpBinary, append([]byte{number}, data...))
}

func (c *channels) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = wsutil.WriteServerMessage(c.conn, ws.OpClose, ws.NewCloseFrameBody(ws.StatusNormalClosure, ""))
}

// read copies stdin messages to input until the connection ends.
func (c *channels) read(input io.Writer) error {
	for {
		data, _, err := wsutil.ReadClientData(c.conn)
		if err != nil {
			return io.EOF // closed, or gone
		}
		if len(data) == 0 || data[0] != channelStdin && data[0] != '0'+channelStdin {
			continue // a resize message, or empty
		}
		text := data[1:]
		if c.base64 {
			if text, err = base64.StdEncoding.DecodeString(string(text)); err != nil {
				return io.EOF
			}
		}
		if _, err := input.Write(text); err != nil {
			return err
		}
	}
}

type channel struct {
	all    *channels
	number byte
}

func (c channel) Write(p []byte) (int, error) {
	c.all.send(c.number, p)
	return len(p), nil
}
