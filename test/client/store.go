package client

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
)

// TROUPE_STORE=etcd makes all servers of a suite keep their state in one etcd. TROUPE_DAEMONS=3
// serves each state by three daemons, which clients use in turn.

// OnEtcd reports whether servers keep their state in etcd.
func OnEtcd() bool { return os.Getenv("TROUPE_STORE") == "etcd" }

// OnDisk makes the servers of a test keep their state in the data directory regardless of
// TROUPE_STORE.
func OnDisk(t testing.TB) { t.Setenv("TROUPE_STORE", "") }

// Daemons returns the number of daemons per state.
func Daemons(t testing.TB) int {
	text := os.Getenv("TROUPE_DAEMONS")
	if text == "" || !OnEtcd() {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("TROUPE_DAEMONS=%s is no number of daemons", text)
	}
	return n
}

// servers returns the URLs of the suite's etcd.
var servers = sync.OnceValues(func() ([]string, error) { return etcdtest.Run() })

// keepIn configures the suite's storage. The data directory becomes the etcd prefix, so that a
// restarted server finds its state.
func keepIn(t testing.TB, config *daemon.Config) {
	if !OnEtcd() || config.Ephemeral || len(config.Etcd.Servers) > 0 {
		return
	}
	urls, err := servers()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs(config.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	config.Etcd.Servers, config.Etcd.Prefix = urls, dir
	// On a busy machine etcd may be slow.
	config.Etcd.HealthCheckTimeout, config.Etcd.WriteTimeout = daemon.Duration(Watchdog), daemon.Duration(Watchdog)
}

// StoreFlags returns the flags that make a daemon process use the suite's storage.
func StoreFlags(t testing.TB, dir string) []string {
	config := daemon.Default()
	config.DataDir = dir
	if keepIn(t, &config); len(config.Etcd.Servers) == 0 {
		return nil
	}
	return []string{
		"--etcd-servers", strings.Join(config.Etcd.Servers, ","), "--etcd-prefix", config.Etcd.Prefix,
		"--etcd-healthcheck-timeout", config.Etcd.HealthCheckTimeout.String(),
	}
}

// Balance makes a client use several servers in turn.
func (c *Client) Balance(hosts []string) {
	c.transport = &balanced{Transport: c.transport.(*http.Transport), hosts: hosts}
}

// balanced is a transport that sends requests to several servers in turn.
type balanced struct {
	*http.Transport
	hosts []string
	next  atomic.Uint64
}

func (b *balanced) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host = b.hosts[b.next.Add(1)%uint64(len(b.hosts))]
	return b.Transport.RoundTrip(r)
}
