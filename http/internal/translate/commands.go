package translate

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gobwas/ws"
	"github.com/moby/spdystream"
	"github.com/valyala/fasthttp"

	"github.com/troupe-api/troupe/http/internal/proxy"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Streams lists the streams that a client requested for exec or attach.
type Streams struct{ Stdin, Stdout, Stderr, TTY bool }

// Commands returns a translator for exec and attach if the client offers v5.channel.k8s.io. It
// returns nil for older protocols, which container runtimes support natively.
func Commands(h *fasthttp.RequestHeader, offered []string, wanted Streams) (proxy.Translator, error) {
	if !slices.Contains(offered, commandProtocol) {
		return nil, nil
	}
	s, err := newHandshake(h, []string{streamProtocol})
	return commands{s, wanted}, err
}

type commands struct {
	handshake
	wanted Streams
}

func (c commands) Agree(backend http.Header) (http.Header, error) {
	if p := backend.Get("X-Stream-Protocol-Version"); p != streamProtocol {
		return nil, fmt.Errorf("unable to negotiate protocol: client supports [%s], server returned %q", streamProtocol, p)
	}
	return c.answer(commandProtocol), nil
}

// The channel numbers of v5.channel.k8s.io.
const (
	channelStdin  = 0
	channelStdout = 1
	channelStderr = 2
	channelStatus = 3
	channelResize = 4
	channelClose  = 255
)

// streamTimeout is the maximum time for the runtime to accept a stream. maxStatus is the maximum
// size of the final status in bytes.
const (
	streamTimeout = 30 * time.Second
	maxStatus     = 64 << 10
)

func (c commands) Run(client, backend net.Conn) {
	channels := newMessages(client)
	connection, err := spdystream.NewConnection(backend, false)
	if err != nil {
		return
	}
	go connection.Serve(func(s *spdystream.Stream) { _ = s.Refuse() }) // until backend is closed
	streams, err := c.open(connection)
	defer closeStreams(backend, streams)
	if err != nil {
		_ = channels.send(ws.OpBinary, []byte{channelStatus}, internalStatus(err)) // may be gone
		_ = channels.CloseWrite()
		return
	}
	if channels.send(ws.OpBinary, []byte{c.firstChannel()}, nil) != nil { // it is connected
		return
	}
	var input sync.WaitGroup
	input.Go(func() {
		_ = readChannels(channels, streams)
		closeStreams(backend, streams) // the command ends with its client
		_ = client.Close()
	})
	if passOutput(channels, streams) == nil {
		_ = channels.CloseWrite()
		_ = client.SetReadDeadline(time.Now().Add(closeTimeout)) // fails only if closed
	} else {
		_ = client.Close()
	}
	_ = backend.Close() // pending writes fail
	input.Wait()
}

// closeStreams closes the connection to the backend. It also resets each stream, because its
// readers would otherwise block forever.
func closeStreams(backend net.Conn, streams [5]*spdystream.Stream) {
	_ = backend.Close()
	for _, s := range streams {
		if s != nil {
			_ = s.Reset() // the other end is gone
		}
	}
}

// closeTimeout is how long a client may take to close its WebSocket after the command has ended.
const closeTimeout = 5 * time.Second

func (c commands) firstChannel() byte {
	switch {
	case c.wanted.Stdout:
		return channelStdout
	case c.wanted.Stderr && !c.wanted.TTY:
		return channelStderr
	}
	return channelStatus
}

// open opens the requested streams in the order that container runtimes expect. The result is
// indexed by channel number.
func (c commands) open(connection *spdystream.Connection) (streams [5]*spdystream.Stream, err error) {
	for _, s := range []struct {
		channel int
		kind    string
		wanted  bool
	}{
		{channelStatus, "error", true}, {channelStdin, "stdin", c.wanted.Stdin}, {channelStdout, "stdout", c.wanted.Stdout},
		{channelStderr, "stderr", c.wanted.Stderr && !c.wanted.TTY}, {channelResize, "resize", c.wanted.TTY},
	} {
		if !s.wanted {
			continue
		}
		opened, err := connection.CreateStream(http.Header{"Streamtype": {s.kind}}, nil, false)
		if err == nil {
			err = opened.WaitTimeout(streamTimeout)
		}
		if err != nil {
			return streams, err
		}
		streams[s.channel] = opened
	}
	for _, i := range []int{channelStdin, channelResize} {
		if s := streams[i]; s != nil {
			go func() { _, _ = io.Copy(io.Discard, s) }() // else they block others
		}
	}
	return streams, nil
}

func internalStatus(err error) []byte {
	s := &meta.Status{Code: http.StatusInternalServerError, Reason: meta.ReasonInternalError, Message: "Internal error occurred: " + err.Error()}
	return s.AppendJSON(nil)
}

func readChannels(channels *messages, streams [5]*spdystream.Stream) error {
	var buf [8 << 10]byte
	to := -1 // channel of the current message; -1: none
	for {
		n, begins, err := channels.readPiece(buf[:])
		if err != nil {
			return err
		}
		piece := buf[:n]
		if n > 0 && begins {
			to, piece = int(piece[0]), piece[1:]
		}
		if len(piece) == 0 {
			continue
		}
		switch to {
		case channelClose:
			if s := int(piece[0]); s == channelStdin && streams[s] != nil {
				_ = streams[s].Close() // it may have ended
			}
			to = -1
		case channelStdin, channelResize:
			if s := streams[to]; s != nil {
				if _, err := s.Write(piece); err != nil {
					streams[to] = nil // the command no longer reads; its output may continue
				}
			}
		}
	}
}

var errLost = errors.New("the connection to the container was lost before the command ended")

func passOutput(channels *messages, streams [5]*spdystream.Stream) error {
	var both sync.WaitGroup
	var failed [2]error
	for i, channel := range []byte{channelStdout, channelStderr} {
		if s := streams[channel]; s != nil {
			both.Go(func() { failed[i] = passChannel(channels, channel, s) })
		}
	}
	status, err := io.ReadAll(io.LimitReader(streams[channelStatus], maxStatus))
	both.Wait()
	if err := errors.Join(append(failed[:], err)...); err != nil {
		return err
	}
	if len(status) == 0 { // clients would interpret an empty status as success
		status = internalStatus(errLost)
	}
	return channels.send(ws.OpBinary, []byte{channelStatus}, status)
}

// passChannel forwards one stream to the client. After a failure, it closes the client connection,
// which also ends the other streams.
func passChannel(channels *messages, channel byte, from io.Reader) error {
	var buf [8 << 10]byte
	for {
		n, err := from.Read(buf[:])
		if n > 0 {
			if err := channels.send(ws.OpBinary, []byte{channel}, buf[:n]); err != nil {
				_ = channels.Conn.Close() // ends the input and thereby all streams
				return err
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}
