package client

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/moby/spdystream"

	"github.com/troupe-api/troupe/kinds/tree"
)

type forwardOptions struct{ Address string }

func (o *forwardOptions) run(s *session, args []string) error {
	pod, err := s.podFor(args[0])
	if err != nil {
		return err
	}
	if phase := pod.tree.Object("status").String("phase"); phase != "Running" {
		return fmt.Errorf("unable to forward port because pod is not running. Current status=%s", phase)
	}
	connection, err := s.openStreams(pod.path()+"/portforward", nil, "portforward.k8s.io")
	if err != nil {
		return err
	}
	defer connection.Close()
	fwd := &forwarder{session: s, connection: connection}
	for _, arg := range args[1:] {
		local, remote, err := forwardedPorts(pod.tree, arg)
		if err != nil {
			return err
		}
		l, err := net.Listen("tcp", net.JoinHostPort(o.Address, local))
		if err != nil {
			return fmt.Errorf("local port %s: %w", local, err)
		}
		defer l.Close()
		s.printf("Forwarding from %s -> %d\n", l.Addr(), remote)
		go fwd.accept(l, remote)
	}
	select {
	case <-s.ctx.Done():
		return s.ctx.Err()
	case <-connection.CloseChan():
		return errors.New("lost connection to pod")
	}
}

// forwardedPorts parses ports such as 8080:80, :80 or 80. The remote port may be the name of a
// container port.
func forwardedPorts(pod tree.Tree, arg string) (local string, remote int64, err error) {
	local, text, both := strings.Cut(arg, ":")
	if !both {
		text = local
	}
	if local == "" {
		local = "0"
	}
	remote, err = strconv.ParseInt(text, 10, 32)
	if err != nil {
		for _, c := range pod.Object("spec").Objects("containers") {
			for _, p := range c.Objects("ports") {
				if n, ok := p.Int("containerPort"); ok && p.String("name") == text {
					remote, err = n, nil
				}
			}
		}
		if !both {
			local = fmt.Sprint(remote)
		}
	}
	if err != nil || remote <= 0 || remote > 65535 {
		return "", 0, usageError(fmt.Sprintf("invalid port %q: must be PORT, LOCAL:PORT or :PORT, where PORT is a number or the name of a container port", arg))
	}
	if n, err := strconv.Atoi(local); err != nil || n < 0 || n > 65535 {
		return "", 0, usageError(fmt.Sprintf("invalid local port %q", arg))
	}
	return local, remote, nil
}

// A forwarder multiplexes TCP connections over one SPDY connection.
type forwarder struct {
	*session
	connection *spdystream.Connection
	requests   atomic.Int64
}

func (f *forwarder) accept(l net.Listener, remote int64) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			if err := f.carry(conn, remote); err != nil {
				fmt.Fprintf(f.err, "a connection to port %d: %v\n", remote, err)
			}
		}()
	}
}

func (f *forwarder) carry(conn net.Conn, remote int64) error {
	h := http.Header{}
	h.Set("port", fmt.Sprint(remote))
	h.Set("requestID", fmt.Sprint(f.requests.Add(1)))
	fault, err := f.openStream(f.connection, h, "error")
	if err != nil {
		return err
	}
	_ = fault.Close() // the client sends nothing on it
	defer fault.Reset()
	data, err := f.openStream(f.connection, h, "data")
	if err != nil {
		return err
	}
	defer data.Reset()
	told := make(chan error, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(fault, 1<<16))
		if err == nil && len(text) > 0 {
			err = errors.New(string(text))
		}
		told <- err
	}()
	back := make(chan struct{})
	go func() {
		_, _ = io.Copy(conn, data)
		close(back)
	}()
	go func() {
		_, _ = io.Copy(data, conn)
		_ = data.Close()
	}()
	<-back
	select {
	case err := <-told:
		return err
	default:
		return nil
	}
}
