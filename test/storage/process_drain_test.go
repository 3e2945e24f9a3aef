package storage

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// TestDrain checks a graceful shutdown. After SIGTERM, only readiness fails. After the port is
// closed, a request in flight still gets its response, and a watch ends with its last chunk. The
// exit status is 0.
func TestDrain(t *testing.T) {
	for delay := time.Second; !drains(t, delay); delay *= 4 {
		if t.Failed() || delay > client.Watchdog {
			t.Fatalf("the port is closed %v after SIGTERM", delay)
		}
	}
}

// drains tests one graceful shutdown. It returns false if the port closed before all requests were
// sent, as may happen on a busy machine.
func drains(t *testing.T, delay time.Duration) bool {
	p := serveProcess(t, filepath.Join(t.TempDir(), "data"), "--shutdown-delay-duration", delay.String())
	c := p.caller()
	watch := must.Get(c.http.Get(p.URL + configMaps + "?watch=1"))(t)
	defer watch.Body.Close()
	late := begin(t, p, numberedConfigMap("late", 1))
	p.Signal(syscall.SIGTERM)
	closed := false
	eventually(t, "readiness fails", func() bool {
		code, text, err := c.do("GET", "/readyz", "")
		closed = err != nil
		return closed || code == 500 && strings.Contains(text, "shutdown failed")
	})
	for _, r := range []struct {
		method, path, body string
		code               int
	}{{"GET", "/livez", "", 200}, {"POST", configMaps, numberedConfigMap("during", 1), 201}} {
		if closed {
			return false
		}
		code, text, err := c.do(r.method, r.path, r.body)
		if closed = err != nil; !closed && code != r.code {
			t.Errorf("%s %s while it drains: %d %s", r.method, r.path, code, text)
		}
	}
	if closed {
		return false
	}
	eventually(t, "the port is closed", func() bool {
		probe, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "https://"))
		if err == nil {
			_ = probe.Close()
		}
		return err != nil
	})
	if answer := late(); !strings.HasPrefix(answer, "HTTP/1.1 201 ") {
		t.Errorf("the request in flight got %q", answer)
	}
	events, err := io.ReadAll(watch.Body)
	if err != nil {
		t.Errorf("the watch does not end cleanly: %v", err)
	}
	if !strings.Contains(string(events), `"during"`) {
		t.Errorf("the watch lacks the last event: %s", events)
	}
	if code := p.Wait(); code != 0 {
		t.Fatalf("exit status %d\n%s", code, p.Log)
	}
	again := serveProcess(t, p.dir)
	for _, name := range []string{"during", "late"} {
		again.caller().must(t, 200, "GET", configMaps+"/"+name, "")
	}
	again.Stop()
	return true
}

// begin sends a create request without its last byte. The returned function sends that byte and
// returns the response.
func begin(t *testing.T, p *daemonProcess, body string) func() string {
	t.Helper()
	conn := must.Get(tls.Dial("tcp", strings.TrimPrefix(p.URL, "https://"), adminTLS(t, p.dir)))(t)
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(client.Watchdog))
	// Complete a request first, to ensure that the server has accepted the connection.
	must.Get(fmt.Fprintf(conn, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"))(t)
	buf := make([]byte, 4096)
	if n, err := conn.Read(buf); err != nil || !strings.HasPrefix(string(buf[:n]), "HTTP/1.1 200 ") {
		t.Fatalf("%q, %v", buf[:n], err)
	}
	must.Get(fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		configMaps, len(body), body[:len(body)-1]))(t)
	return func() string {
		if _, err := io.WriteString(conn, body[len(body)-1:]); err != nil {
			return err.Error()
		}
		n, err := conn.Read(buf)
		if err != nil {
			return err.Error()
		}
		return string(buf[:n])
	}
}

// TestSecondSignal checks that a second signal stops the daemon immediately.
func TestSecondSignal(t *testing.T) {
	p := serveProcess(t, filepath.Join(t.TempDir(), "data"), "--shutdown-delay-duration", "1h")
	p.Signal(syscall.SIGTERM)
	c := p.caller()
	eventually(t, "readiness fails", func() bool {
		code, _, err := c.do("GET", "/readyz", "")
		return err == nil && code == http.StatusInternalServerError
	})
	p.Signal(syscall.SIGTERM)
	if code := p.Wait(); code != 1 || !strings.Contains(p.Log.String(), "second signal") {
		t.Errorf("exit status %d\n%s", code, p.Log)
	}
}
