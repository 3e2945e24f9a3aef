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

// TROUPE_STORE=etcd lets all servers of a suite keep their state in an etcd that runs as long as the suite does, and TROUPE_DAEMONS=3
// serves each of them by three daemons, which the client asks in turn.

// OnEtcd tells whether servers keep their state in etcd.
func OnEtcd() bool { return os.Getenv("TROUPE_STORE") == "etcd" }

// OnDisk lets the servers of a test that is about the data directory keep their state there, wherever the suite has it.
func OnDisk(t testing.TB) { t.Setenv("TROUPE_STORE", "") }

// Daemons is how many serve one state.
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

// servers are the etcd servers of the suite.
var servers = sync.OnceValues(func() ([]string, error) { return etcdtest.Run() })

// keepIn lets a configuration keep its state where the suite has it. Data directories stand for prefixes, so that a server that is started
// again finds its state.
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
	// On a busy machine etcd is slow, not away.
	config.Etcd.HealthCheckTimeout, config.Etcd.WriteTimeout = daemon.Duration(Watchdog), daemon.Duration(Watchdog)
}

// StoreFlags let a daemon that is a process of its own keep its state where the suite has it.
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

// Balance lets a client ask several servers in turn, by their addresses.
func (c *Client) Balance(hosts []string) {
	c.transport = &balanced{Transport: c.transport.(*http.Transport), hosts: hosts}
}

// balanced is a transport that sends each request to another one of some servers.
type balanced struct {
	*http.Transport
	hosts []string
	next  atomic.Uint64
}

// RoundTrip implements http.RoundTripper.
func (b *balanced) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host = b.hosts[b.next.Add(1)%uint64(len(b.hosts))]
	return b.Transport.RoundTrip(r)
}
