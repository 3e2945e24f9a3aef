package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// TestAwaitInput tests that waiting consumes no input, and ends with input, deadline and
// disconnect.
func TestAwaitInput(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	raw, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
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
	if err := c.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a deadline that has passed: %v", err)
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}

	go await()
	if _, err := client.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
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

// TestAwaitInputReadAhead tests that buffered input counts.
func TestAwaitInputReadAhead(t *testing.T) {
	server, client := net.Pipe()
	defer client.Close()
	c := newConn(server, New(Options{MaxConnections: 1}))
	c.unread = []byte("x")
	if err := c.AwaitInput(); err != nil {
		t.Error(err)
	}
}
