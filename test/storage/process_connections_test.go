package storage

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// openSilentConnections opens n connections that send nothing or only the start of a TLS handshake,
// and stay open until the test ends.
func openSilentConnections(t *testing.T, p *daemonProcess, n int) {
	t.Helper()
	u := must.Get(url.Parse(p.URL))(t)
	for i := range n {
		c, err := net.DialTimeout("tcp", u.Host, client.Watchdog)
		if err != nil {
			continue // rejected
		}
		t.Cleanup(func() { _ = c.Close() })
		if i%2 == 0 {
			_, _ = c.Write([]byte("\x16\x03\x01")) // the connection may already be closed
		}
	}
}

// timeGet reads and writes on new connections as the administrator, and returns the duration of the
// read.
func (p *daemonProcess) timeGet(t *testing.T) time.Duration {
	t.Helper()
	c := p.caller()
	defer c.http.CloseIdleConnections()
	began := time.Now()
	c.must(t, 200, "GET", "/api/v1/namespaces/default", "")
	took := time.Since(began)
	c.must(t, 201, "POST", configMaps, `{"metadata":{"generateName":"a-"}}`)
	return took
}

// TestSilentConnections checks that idle connections do not delay other clients, however many there
// are. Above the limit, the server closes the oldest.
func TestSilentConnections(t *testing.T) {
	n, limit := 400, "100"
	if os.Getenv("TROUPE_SOAK") != "" {
		n, limit = 10_000, "0"
	}
	p := serveProcess(t, t.TempDir(), "--max-connections="+limit)
	openSilentConnections(t, p, n)
	var took []time.Duration
	for range 20 {
		took = append(took, p.timeGet(t))
	}
	slices.Sort(took)
	client.Figures(t, "%d connections that say nothing; of %d gets the middle one took %v, the last one %v", n, len(took), took[len(took)/2], took[len(took)-1])
	if os.Getenv("TROUPE_SOAK") != "" && took[len(took)/2] > 100*time.Millisecond {
		t.Error("idle connections delay an administrator")
	}
	text := p.caller().must(t, 200, "GET", "/metrics", "")
	if limit != "0" && !connectionsEvicted.MatchString(text) {
		t.Error("the metrics count no closed connection")
	}
	t.Log(residentMemory.FindString(text))
}

var residentMemory = regexp.MustCompile(`process_resident_memory_bytes [0-9]+`)

var connectionsEvicted = regexp.MustCompile(`troupe_connections_refused_total\{reason="oldest"\} [1-9]`)

// slowBody sends a large write request with only the first byte of the body. If known is true, the
// request has the administrator's credentials.
func (p *daemonProcess) slowBody(t *testing.T, known bool) {
	config := adminTLS(t, p.dir)
	config.ServerName = "localhost"
	if !known {
		config.Certificates = nil
	}
	c, err := tls.Dial("tcp", strings.TrimPrefix(p.URL, "https://"), config)
	if err != nil {
		t.Error(err)
		return
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(client.Watchdog))
	const head = " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 3145728\r\n\r\n{"
	if _, err := io.WriteString(c, "POST "+configMaps+head); err != nil {
		t.Error(err)
	}
}

// TestManyConnections opens many idle connections, incomplete requests and stalled readers
// simultaneously. Other clients must be served, and memory must stay bounded.
func TestManyConnections(t *testing.T) {
	silent, slow, stalled, bound := 500, 30, 10, 384*mebibyte
	if soak {
		silent, slow, stalled, bound = 10_000, 300, 100, 512*mebibyte // as documented in docs/operations.md
	}
	p := serveProcess(t, t.TempDir())
	c := p.caller()
	data := strings.Repeat("x", 256<<10)
	c.fill(t, configMaps, 128, func(n int) string {
		return fmt.Sprintf(`{"metadata":{"name":"m%06d"},"data":{"text":%q}}`, n, data)
	})
	p.resetPeak()
	t.Logf("before: %d MiB", p.memory("VmRSS")/mebibyte)
	forms := listForms(configMaps)
	var crowd sync.WaitGroup
	for n := range stalled {
		crowd.Go(func() {
			conn, _ := p.openStalledList(forms[n%2]) // JSON and indented JSON, which are never rejected
			t.Cleanup(func() { _ = conn.Close() })
		})
	}
	openSilentConnections(t, p, silent)
	const dialers = 8
	for d := range dialers {
		crowd.Go(func() {
			for n := d; n < slow; n += dialers {
				p.slowBody(t, n%2 == 0)
			}
		})
	}
	crowd.Wait()
	var took []time.Duration
	for range 20 {
		took = append(took, p.timeGet(t))
	}
	slices.Sort(took)
	if open := c.metric(t, "troupe_connections"); soak && open < float64(silent+slow+stalled) {
		t.Errorf("only %v connections are open", open)
	}
	peak := p.memory("VmHWM")
	client.Figures(t, "%d connections at once, peak %d MiB; of %d gets the middle one took %v, the last one %v", silent+slow+stalled, peak/mebibyte, len(took), took[len(took)/2], took[len(took)-1])
	if soak && peak > bound {
		t.Errorf("the process has taken %d MiB, more than %d MiB", peak/mebibyte, bound/mebibyte)
	}
	if soak && took[len(took)/2] > 100*time.Millisecond {
		t.Error("an administrator waits for the crowd")
	}
}

// TestHalfSentRequests checks that incomplete requests do not delay shutdown.
func TestHalfSentRequests(t *testing.T) {
	p := serveProcess(t, t.TempDir())
	openSilentConnections(t, p, 4)
	u := must.Get(url.Parse(p.URL))(t)
	known := adminTLS(t, p.dir)
	anonymous := &tls.Config{RootCAs: known.RootCAs}
	for _, half := range []struct {
		config *tls.Config
		text   string
	}{
		{anonymous, "G"},
		{anonymous, "GET /version HTTP/1.1\r\nHost: x\r\nX-"},
		{anonymous, "GET /version HTTP/1.1\r\nHost: x\r\n\r\nGET /version HTTP/1.1\r\n"},
		{anonymous, "POST " + configMaps + " HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"},
		{known, "POST " + configMaps + " HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"},
		{known, "POST " + configMaps + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1"},
	} {
		c := must.Get(tls.Dial("tcp", u.Host, half.config))(t)
		defer c.Close()
		must.Get(c.Write([]byte(half.text)))(t)
	}
	p.timeGet(t) // ensures that the earlier requests have arrived
	p.Signal(syscall.SIGTERM)
	if code := p.Wait(); code != 0 {
		t.Errorf("exit status %d\n%s", code, p.Log)
	}
}
