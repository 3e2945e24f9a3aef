package proxy

import (
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// A brokenConn fails its only write with err. Reads block until then and return last.
type brokenConn struct {
	net.Conn // nil
	err      error
	failed   chan struct{}
	last     []byte
}

func (c *brokenConn) Write([]byte) (int, error) {
	close(c.failed)
	return 0, c.err
}

func (c *brokenConn) Read(b []byte) (int, error) {
	<-c.failed
	if len(c.last) == 0 {
		return 0, io.EOF
	}
	n := copy(b, c.last)
	c.last = c.last[n:]
	return n, nil
}

func (*brokenConn) SetReadDeadline(time.Time) error  { return nil }
func (*brokenConn) SetWriteDeadline(time.Time) error { return nil }
func (*brokenConn) Close() error                     { return nil }

// TestCopyLastData checks that CopyBoth delivers what a backend sent before it closed, although a
// write to the backend fails first. A write timeout ends both directions.
func TestCopyLastData(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{syscall.EPIPE, "exit code 9"},
		{os.ErrDeadlineExceeded, ""},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			client, end := net.Pipe()
			done := make(chan struct{})
			go func() {
				CopyBoth(end, &brokenConn{err: c.err, failed: make(chan struct{}), last: []byte("exit code 9")})
				close(done)
			}()
			if _, err := client.Write([]byte("resize")); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(client)
			if err != nil || c.want != "" && string(got) != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
			client.Close()
			<-done
		})
	}
}
