package simulation

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/moby/spdystream"
)

const (
	spdyProtocol     = "SPDY/3.1"
	protocolHeader   = "X-Stream-Protocol-Version"
	commandProtocol  = "v4.channel.k8s.io"
	forwardProtocol  = "portforward.k8s.io"
	streamsTimeout   = 30 * time.Second // for a client to open its streams
	streamTypeHeader = "Streamtype"
)

// upgradeSPDY upgrades a request to SPDY and returns the connection. If the client does not offer
// the protocol, it writes an error and returns nil.
func upgradeSPDY(w http.ResponseWriter, r *http.Request, protocol string) net.Conn {
	offered := strings.FieldsFunc(strings.Join(r.Header.Values(protocolHeader), ","), func(c rune) bool { return c == ',' || c == ' ' })
	if !slices.Contains(offered, protocol) {
		w.Header().Set("X-Accepted-Stream-Protocol-Versions", protocol)
		http.Error(w, "unable to upgrade: of the protocols only "+protocol+" is served", http.StatusForbidden)
		return nil
	}
	w.Header().Set("Connection", "Upgrade")
	w.Header().Set("Upgrade", spdyProtocol)
	w.Header().Set(protocolHeader, protocol)
	w.WriteHeader(http.StatusSwitchingProtocols)
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil // the connection is gone
	}
	if buffered.Reader.Buffered() > 0 {
		return readAhead{conn, buffered.Reader}
	}
	return conn
}

// readAhead is a connection whose first data was buffered during the upgrade.
type readAhead struct {
	net.Conn
	reader io.Reader
}

func (r readAhead) Read(p []byte) (int, error) { return r.reader.Read(p) }

func serveSPDY(w http.ResponseWriter, r *http.Request, want wanted, run func(*session) int) {
	conn := upgradeSPDY(w, r, commandProtocol)
	if conn == nil {
		return
	}
	defer conn.Close()
	connection, err := spdystream.NewConnection(conn, true)
	if err != nil {
		return
	}
	kinds := []string{"error"}
	for kind, is := range map[string]bool{"stdin": want.stdin, "stdout": want.stdout, "stderr": want.stderr, "resize": want.tty} {
		if is {
			kinds = append(kinds, kind)
		}
	}
	opened := make(chan *spdystream.Stream, len(kinds))
	go connection.Serve(func(s *spdystream.Stream) {
		if !slices.Contains(kinds, s.Headers().Get(streamTypeHeader)) || s.SendReply(http.Header{}, false) != nil {
			_ = s.Refuse() // a stream that the request did not announce
			return
		}
		select {
		case opened <- s:
		default:
			_ = s.Reset() // a second stream of a type
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-connection.CloseChan()
		cancel()
	}()
	streams := map[string]*spdystream.Stream{}
	for timeout := time.After(streamsTimeout); len(streams) < len(kinds); {
		select {
		case s := <-opened:
			streams[s.Headers().Get(streamTypeHeader)] = s
		case <-timeout:
			return
		case <-ctx.Done():
			return
		}
	}
	s := &session{ctx: ctx, stdout: io.Discard, stderr: io.Discard, tty: want.tty}
	if in := streams["stdin"]; in != nil {
		s.stdin = in
	}
	if out := streams["stdout"]; out != nil {
		s.stdout = out
	}
	if e := streams["stderr"]; e != nil {
		s.stderr = e
	}
	if sizes := streams["resize"]; sizes != nil {
		go func() { _, _ = io.Copy(io.Discard, sizes) }() // a simulated terminal ignores its size
	}
	code := run(s)
	_, _ = streams["error"].Write(exitStatus(code)) // the client may be gone
	for _, kind := range []string{"stdout", "stderr", "error"} {
		if s := streams[kind]; s != nil {
			_ = s.Close() // as above
		}
	}
	if in := streams["stdin"]; in != nil {
		_ = in.Reset() // the rest is not read
	}
	awaitClose(ctx)
}

func awaitClose(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(streamsTimeout):
	}
}

// servePorts returns an error for each forwarded connection, because simulated containers listen on
// no port.
func (c *Cluster) servePorts(w http.ResponseWriter, r *http.Request) {
	conn := upgradeSPDY(w, r, forwardProtocol)
	if conn == nil {
		return
	}
	defer conn.Close()
	connection, err := spdystream.NewConnection(conn, true)
	if err != nil {
		return
	}
	var mu sync.Mutex
	faults := map[string]*spdystream.Stream{} // by request id
	connection.Serve(func(s *spdystream.Stream) {
		if s.SendReply(http.Header{}, false) != nil {
			return
		}
		number := s.Headers().Get("Requestid")
		mu.Lock()
		fault := faults[number]
		delete(faults, number)
		if s.Headers().Get(streamTypeHeader) == "error" && len(faults) < maxForwarded {
			faults[number] = s
		}
		mu.Unlock()
		if s.Headers().Get(streamTypeHeader) != "data" {
			return
		}
		if fault != nil {
			_, _ = io.WriteString(fault, "containers on simulated nodes listen on no port, as on "+s.Headers().Get("Port")) // the client may be gone
			_ = fault.Close()
		}
		_ = s.Close()
	})
}

// maxForwarded limits the incomplete forwarded connections, for which the client has opened only
// one of the two streams (data and error).
const maxForwarded = 1000
