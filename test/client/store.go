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

// With TROUPE_STORE=etcd, all servers of a suite store their data in one etcd. With
// TROUPE_DAEMONS=3, three servers share the data of a test, and clients use them in turn.

// OnEtcd reports whether servers store their data in etcd.
func OnEtcd() bool { return os.Getenv("TROUPE_STORE") == "etcd" }

// OnDisk makes a test's servers store data in the data directory, regardless of TROUPE_STORE.
func OnDisk(t testing.TB) { t.Setenv("TROUPE_STORE", "") }

// Daemons returns the number of servers that share the data of a test.
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

// servers starts the suite's etcd on first use, and returns its URLs.
var servers = sync.OnceValues(func() ([]string, error) { return etcdtest.Run() })

// keepIn configures the suite's storage. The path of the data directory is the etcd prefix, so that
// a restarted server finds its data.
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
	// The default timeouts are too short for etcd on a busy machine.
	config.Etcd.HealthCheckTimeout, config.Etcd.WriteTimeout = daemon.Duration(Watchdog), daemon.Duration(Watchdog)
}

// StoreFlags returns the flags that make a troupe process use the suite's storage.
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

// Balance makes a Client use several servers in turn.
func (c *Client) Balance(hosts []string) {
	c.transport = &balanced{Transport: c.transport.(*http.Transport), hosts: hosts}
}

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
