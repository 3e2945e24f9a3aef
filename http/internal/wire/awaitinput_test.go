package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
)

// TestAwaitInput tests that the wait ends with input, at the deadline, and on disconnect, and that
// it consumes no input.
func TestAwaitInput(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	client := must.Get(net.Dial("tcp", l.Addr().String()))(t)
	defer client.Close()
	raw := must.Get(l.Accept())(t)
	defer raw.Close()
	c := newConn(raw, New(Options{MaxConnections: 1}))
	waited := make(chan error)
	await := func() { waited <- c.AwaitInput() }

	go await()
	select {
	case err := <-waited:
		t.Fatalf("it does not wait: %v", err)
	default:
	}
	must.Succeed(t, c.SetReadDeadline(time.Unix(1, 0)))
	if err := <-waited; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a deadline that has passed: %v", err)
	}
	must.Succeed(t, c.SetReadDeadline(time.Time{}))

	go await()
	must.Get(client.Write([]byte("x")))(t)
	var b [2]byte
	if err := <-waited; err != nil {
		t.Errorf("input: %v", err)
	}
	if n, err := c.Read(b[:]); n != 1 || b[0] != 'x' || err != nil {
		t.Errorf("read %d bytes, %q, %v", n, b[:n], err)
	}

	go await()
	_ = client.Close()
	if err := <-waited; err != nil {
		t.Errorf("a client that has gone: %v", err)
	}
	if _, err := c.Read(b[:]); err != io.EOF {
		t.Errorf("reading from a client that has gone: %v", err)
	}
}

func TestAwaitInputReadAhead(t *testing.T) {
	server, client := net.Pipe()
	defer client.Close()
	c := newConn(server, New(Options{MaxConnections: 1}))
	c.unread = []byte("x")
	if err := c.AwaitInput(); err != nil {
		t.Error(err)
	}
}
