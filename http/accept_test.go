package http_test

import (
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/troupe-api/troupe/http"
)

// A faultyListener returns the errors in faults from Accept before it accepts any connection.
type faultyListener struct {
	net.Listener
	faults chan error
}

func (m faultyListener) Accept() (net.Conn, error) {
	select {
	case err := <-m.faults:
		return nil, err
	default:
		return m.Listener.Accept()
	}
}

func TestAcceptRetries(t *testing.T) {
	faults := make(chan error, 10)
	for _, fault := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ECONNABORTED, syscall.ENOMEM, syscall.ENOBUFS, syscall.EPROTO} {
		faults <- &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", fault)}
	}
	f := serve(t, func(o *http.Options) { o.Listener = faultyListener{o.Listener, faults} })
	for range 3 {
		if resp, _ := f.do("GET", "/version", ""); resp.StatusCode != 200 {
			t.Fatalf("%d", resp.StatusCode)
		}
	}
	if _, text := f.do("GET", "/metrics", ""); !strings.Contains(text, "troupe_accept_errors_total 6\n") {
		t.Errorf("the metrics do not tell:\n%s", text)
	}
}
