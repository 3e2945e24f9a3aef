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

// The watchers of a crowd. Fewer than minWatchers would prove nothing.
const minWatchers, maxWatchers = 200, 5000

// TestAbruptDisconnects: watchers that vanish without a word, some by a reset, some by a
// closed socket, leave nothing behind: of a silent watch, and while events are sent to them.
func TestAbruptDisconnects(t *testing.T) {
	s := client.Serve(t, t.TempDir(), nil)
	for _, silent := range []bool{true, false} {
		disconnect(t, s, openWatches(t, s, 50), silent) // so that all is there that stays
	}
	before := currentUsage(t)
	// Of the first crowd, tables and the runtime's own records of goroutines keep their size;
	// the second finds them.
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

// watcherLimit is how many watchers come: in the soak, all that there are descriptors for. Each has two in this process.
func watcherLimit(t *testing.T) int {
	var limit syscall.Rlimit
	must.Succeed(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if !client.Soak() {
		return minWatchers
	}
	return max(minWatchers, min(maxWatchers, int(limit.Cur/2)-200))
}

// openWatches opens n watches.
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

// openWatch opens one watch and returns the socket beneath it.
func openWatch(ctx context.Context, s *client.Server) (net.Conn, error) {
	address := strings.TrimPrefix(s.URL, "https://")
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	config := s.TLS.Clone()
	config.ServerName, _, _ = net.SplitHostPort(address)
	config.CurvePreferences = []tls.CurveID{tls.CurveP256} // the quickest
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

// readResponseHead reads the head of the answer, which comes at once.
func readResponseHead(c net.Conn) error {
	answer, err := http.ReadResponse(bufio.NewReaderSize(c, 1<<10), nil)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return err
}

// disconnect closes the sockets beneath the watches, every other one by a reset.
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

// usage is what this process, client and server, has in use.
type usage struct{ goroutines, descriptors, memory int }

func currentUsage(t *testing.T) usage {
	t.Helper()
	files := must.Get(os.ReadDir("/proc/self/fd"))(t)
	runtime.GC()
	runtime.GC() // what the pools have kept goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{runtime.NumGoroutine(), len(files), int(m.HeapAlloc + m.StackInuse)}
}

// waitReleased waits until no more is in use than before, but for what may be spared.
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
