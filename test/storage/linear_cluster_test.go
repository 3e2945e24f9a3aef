package storage

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest/freeport"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest/processes"
	"github.com/troupe-api/troupe/test/client"
)

// A linearCluster is three server processes that share a three-member etcd cluster. Each server has
// its own links to etcd. The embedded client uses the servers in turn.
type linearCluster struct {
	t *testing.T
	*client.Client
	etcd     *etcdtest.Cluster
	binary   string
	settings string
	seed     uint64
	replicas []*replica
}

type replica struct {
	*client.Client
	cluster *linearCluster
	dir     string
	port    string // the same in each run
	links   []*etcdtest.Link
	cutOff  atomic.Bool     // whether the server is cut off from etcd
	process *client.Process // nil while the server is stopped
	logs    client.Log
	// clock is the server's clock offset, if the binary supports it.
	clock time.Duration
}

// linearSettings shortens the timeouts for etcd. It limits service addresses and node ports, so
// that they are reused often.
const linearSettings = `
shutdown-delay-duration: 500ms
etcd-write-timeout: 4s
etcd-healthcheck-timeout: 1s
service-cluster-ip-range: 10.0.0.0/26
service-node-port-range: 30000-30030
`

func newClusterLinear(t *testing.T) *linearCluster {
	t.Helper()
	return newClusterWith(t, linearSettings, client.TroupeBinary(t), [3]time.Duration{})
}

func newClusterWith(t *testing.T, settings, binary string, clocks [3]time.Duration) *linearCluster {
	t.Helper()
	c := &linearCluster{t: t, seed: client.Seed(t, 1), settings: settings, binary: binary, etcd: etcdtest.Start(t, 3, "--heartbeat-interval", "50", "--election-timeout", "500")}
	var hosts []string
	for _, clock := range clocks {
		port, err := freeport.Find() // not assigned to another process while the server is stopped
		must.Succeed(t, err)
		r := &replica{cluster: c, dir: t.TempDir(), port: strconv.Itoa(port), clock: clock}
		for _, url := range c.etcd.URLs() {
			r.links = append(r.links, etcdtest.NewLink(t, url))
		}
		c.replicas = append(c.replicas, r)
		r.start()
		hosts = append(hosts, "127.0.0.1:"+r.port)
		t.Cleanup(func() {
			r.kill()
			if t.Failed() {
				t.Logf("daemon %s:\n%s", r.port, r.logs.String())
			}
		})
	}
	var err error
	if c.Client, err = client.New(filepath.Join(c.replicas[0].dir, "admin.kubeconfig")); err != nil {
		t.Fatal(err)
	}
	c.Balance(hosts)
	t.Cleanup(c.Close)
	return c
}

// started marks the start of a run in a server's log.
const started = "--- started"

// start starts the server with its previous port and data directory, and waits until it is ready.
func (r *replica) start() {
	t := r.cluster.t
	t.Helper()
	config := filepath.Join(r.dir, "troupe.yaml")
	client.WriteFile(t, config, r.cluster.settings)
	var servers []string
	for _, l := range r.links {
		servers = append(servers, l.URL())
	}
	cmd := exec.Command(r.cluster.binary, "serve", "--config", config, "--data-dir", r.dir, "--secure-port", r.port, "--bind-address", "127.0.0.1",
		"--etcd-servers", strings.Join(servers, ","), "--controllers", client.WithoutRoots)
	processes.EndWithParent(cmd)
	fmt.Fprintln(&r.logs, started)
	cmd.Stderr = &r.logs
	cmd.Env = append(os.Environ(), fmt.Sprint(client.ClockOffset, "=", int(r.clock.Seconds())))
	r.process = client.StartDaemon(t, cmd)
	if r.Client == nil {
		var err error
		if r.Client, err = client.New(r.process.Kubeconfig); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Client.Close)
	}
}

func (r *replica) kill() {
	if r.process == nil {
		return
	}
	r.process.Kill()
	r.process = nil
}

func (r *replica) stop() {
	r.cluster.t.Helper()
	r.process.Stop()
	r.process = nil
}

func (r *replica) pause()  { r.signal(processes.Stop) }
func (r *replica) resume() { r.signal(processes.Continue) }

func (r *replica) signal(s os.Signal) {
	if err := r.process.Cmd.Process.Signal(s); err != nil {
		r.cluster.t.Error(err)
	}
}

func (r *replica) block(block func(*etcdtest.Link)) {
	r.cutOff.Store(true)
	for _, l := range r.links {
		block(l)
	}
}

func (r *replica) mend() {
	r.cutOff.Store(false)
	for _, l := range r.links {
		l.Mend()
	}
}

func (r *replica) slow(delay time.Duration) {
	for _, l := range r.links {
		l.Slow(delay)
	}
}

func (r *replica) reset() {
	for _, l := range r.links {
		l.Reset()
	}
}

// awaitReady waits until all servers are ready and accept writes.
func (c *linearCluster) awaitReady() {
	c.t.Helper()
	for i, r := range c.replicas {
		client.Eventually(c.t, func() error {
			a, err := r.Get(c.t.Context(), "/readyz")
			if err == nil && a.Code != 200 {
				err = &a
			}
			if err != nil {
				return fmt.Errorf("daemon %d: %w", i, err)
			}
			return nil
		})
	}
}

// contents formats the objects of a list, for comparison.
func contents(list client.List) string {
	var all []string
	for _, o := range list.Items {
		data, err := json.Marshal(o["data"])
		if err != nil {
			panic(err)
		}
		if !strings.HasPrefix(o.Name(), "mark-") {
			all = append(all, o.Name()+" "+strconv.FormatUint(o.Version(), 10)+" "+string(data))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}
