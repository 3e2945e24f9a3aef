//go:build unix

package storage

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// With fewer connections than minWatchers, a leak would not be visible.
const minWatchers, maxWatchers = 200, 5000

// TestAbruptDisconnects checks that idle and active watches release all resources when their
// clients reset or close the connection.
func TestAbruptDisconnects(t *testing.T) {
	s := client.Serve(t, t.TempDir(), nil)
	for _, silent := range []bool{true, false} {
		disconnect(t, s, openWatches(t, s, 50), silent) // allocates the memory that the process keeps
	}
	before := currentUsage(t)
	// Maps and the runtime's goroutine descriptors keep their memory after the first batch of
	// connections. This is not a leak, because the second batch reuses it.
	spare := usage{goroutines: 100, descriptors: 20, memory: 8 << 20}
	n := watcherLimit(t)
	for _, silent := range []bool{true, false} {
		conns := openWatches(t, s, n)
		present := currentUsage(t)
		if present.goroutines < len(conns) || present.descriptors < 2*len(conns) {
			t.Fatalf("%d watchers: %+v, without them %+v", len(conns), present, before)
		}
		disconnect(t, s, conns, silent)
		clear(conns)
		after := waitReleased(t, before, spare)
		t.Logf("silent %t: without %+v, with %+v, after %+v", silent, before, present, after)
		n, before, spare.memory = len(conns), after, 4<<20
	}
}

// watcherLimit returns the number of watches to open. In a soak test, it depends on the file
// descriptor limit, because each watch needs two descriptors in this process.
func watcherLimit(t *testing.T) int {
	var limit syscall.Rlimit
	must.Succeed(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if !client.Soak() {
		return minWatchers
	}
	return max(minWatchers, min(maxWatchers, int(limit.Cur/2)-200))
}

func openWatches(t *testing.T, s *client.Server, n int) []net.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), client.Watchdog)
	defer cancel()
	conns := make([]net.Conn, n)
	var next atomic.Int64
	var dialers sync.WaitGroup
	for range 16 {
		dialers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				c, err := openWatch(ctx, s)
				if err != nil {
					t.Error(err)
					return
				}
				conns[i] = c
			}
		})
	}
	dialers.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return conns
}

func openWatch(ctx context.Context, s *client.Server) (net.Conn, error) {
	address := strings.TrimPrefix(s.URL, "https://")
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	config := s.TLS.Clone()
	config.ServerName, _, _ = net.SplitHostPort(address)
	config.CurvePreferences = []tls.CurveID{tls.CurveP256} // the fastest curve
	c := tls.Client(raw, config)
	if err = c.HandshakeContext(ctx); err == nil {
		_, err = fmt.Fprint(c, "GET /api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=3600 HTTP/1.1\r\nHost: "+address+"\r\n\r\n")
	}
	if err == nil {
		err = readResponseHead(c)
	}
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	return raw, nil
}

func readResponseHead(c net.Conn) error {
	answer, err := http.ReadResponse(bufio.NewReaderSize(c, 1<<10), nil)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return err
}

// disconnect closes the connections, every other one with a reset. Unless silent is true, it also
// creates objects to cause events.
func disconnect(t *testing.T, s *client.Server, conns []net.Conn, silent bool) {
	t.Helper()
	for i, c := range conns {
		if i%2 == 0 {
			if err := c.(*net.TCPConn).SetLinger(0); err != nil {
				t.Error(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if !silent && i%(len(conns)/4) == 0 {
			name := fmt.Sprintf("o-%d-%d", len(conns), i)
			if a, err := s.Create(t.Context(), view{namespace: "default"}.path(), client.ConfigMap(name, nil, nil)); err != nil || a.Code != 201 {
				t.Error(a, err)
			}
		}
	}
}

// usage is the resource usage of this process, which runs both clients and server. memory is in
// bytes.
type usage struct{ goroutines, descriptors, memory int }

func currentUsage(t *testing.T) usage {
	t.Helper()
	files := must.Get(os.ReadDir("/proc/self/fd"))(t)
	runtime.GC()
	runtime.GC() // the second collection frees pooled memory
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{runtime.NumGoroutine(), len(files), int(m.HeapAlloc + m.StackInuse)}
}

// waitReleased waits until the usage exceeds before by at most spare.
func waitReleased(t *testing.T, before, spare usage) usage {
	t.Helper()
	var after usage
	client.Eventually(t, func() error {
		after = currentUsage(t)
		if after.goroutines <= before.goroutines+spare.goroutines &&
			after.descriptors <= before.descriptors+spare.descriptors && (!client.Soak() || after.memory <= before.memory+spare.memory) {
			return nil
		}
		var stacks strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
		return fmt.Errorf("%+v is left, before it was %+v\n%.4000s", after, before, stacks.String())
	})
	return after
}
