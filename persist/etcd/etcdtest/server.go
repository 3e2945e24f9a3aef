// Package etcdtest runs etcd servers for tests, built from the Go modules in test/etcdserver.
package etcdtest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest/freeport"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest/processes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// binary and utility build etcd and etcdutl from the newest module in test/etcdserver and return
// their paths. The environment variable ETCD selects another version, such as 3.5, or an etcd
// binary with etcdutl in the same directory.
var (
	binary  = sync.OnceValues(func() (string, error) { return program("server", "etcd") })
	utility = sync.OnceValues(func() (string, error) { return program("etcdutl", "etcdutl") })
)

// Binary builds etcd from the newest module in test/etcdserver, or the version in the environment
// variable ETCD, and returns its path.
func Binary() (string, error) { return binary() }

func program(module, name string) (string, error) {
	version := cmp.Or(os.Getenv("ETCD"), newest)
	if strings.Contains(version, "/") {
		if module == "server" {
			return version, nil
		}
		return filepath.Join(filepath.Dir(version), name), nil
	}
	// Only one process builds at a time, because a binary cannot be executed while it is being
	// written.
	lock, err := os.OpenFile(filepath.Join(os.TempDir(), fmt.Sprintf("troupe-etcd-build-%d.lock", os.Getuid())), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := processes.WaitForLock(lock); err != nil {
		return "", err
	}
	_, file, _, _ := runtime.Caller(0)
	c := exec.Command("go", "tool", "-n", "go.etcd.io/etcd/"+module+"/v3")
	c.Dir = filepath.Join(filepath.Dir(file), "../../../test/etcdserver", version)
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := c.Output()
	if err != nil {
		text := ""
		if failed, ok := err.(*exec.ExitError); ok {
			text = string(failed.Stderr)
		}
		return "", fmt.Errorf("building %s: %w\n%s", name, err, text)
	}
	return strings.TrimSpace(string(out)), nil
}

const newest = "3.7"

// A Cluster is an etcd cluster on loopback addresses.
type Cluster struct {
	t       testing.TB
	tls     *tls.Config // TLS configuration of clients; nil for http
	Members []*Member
}

// A Member is one server of a Cluster.
type Member struct {
	t         testing.TB
	name, dir string
	URL, peer string // URLs for clients and for other members
	flags     []string
	process   *exec.Cmd
	log       *bytes.Buffer
}

// Start runs a cluster until the test ends. more holds additional flags for each member.
func Start(t testing.TB, members int, more ...string) *Cluster {
	t.Helper()
	c := &Cluster{t: t}
	for i := range members {
		c.member(i)
	}
	c.run(more...)
	c.AwaitReady()
	return c
}

// StartTLS runs a single-member cluster that serves TLS. clients is the TLS configuration of its
// clients.
func StartTLS(t testing.TB, clients *tls.Config, more ...string) *Cluster {
	t.Helper()
	c := &Cluster{t: t, tls: clients}
	m := c.member(0)
	m.URL = strings.Replace(m.URL, "http://", "https://", 1)
	c.run(more...)
	c.AwaitReady()
	return c
}

func (c *Cluster) member(i int) *Member {
	c.t.Helper()
	m := &Member{t: c.t, name: fmt.Sprint("m", i), dir: c.t.TempDir()}
	m.URL, m.peer = must.Get(freeURL())(c.t), must.Get(freeURL())(c.t)
	c.Members = append(c.Members, m)
	return m
}

func (c *Cluster) run(more ...string) {
	c.t.Helper()
	for _, m := range c.Members {
		m.flags = append(flags(m.name, m.dir, m.URL, m.peer, c.peers()), more...)
		m.Run()
		c.t.Cleanup(m.Kill)
	}
}

func (c *Cluster) peers() string {
	var all []string
	for _, m := range c.Members {
		all = append(all, m.name+"="+m.peer)
	}
	return strings.Join(all, ",")
}

// Run starts a member that runs until this process ends, so that several tests can share it. It
// returns the client URLs.
func Run() ([]string, error) {
	path, err := binary()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "troupe-etcd-")
	if err != nil {
		return nil, err
	}
	url, err := freeURL()
	if err != nil {
		return nil, err
	}
	peer, err := freeURL()
	if err != nil {
		return nil, err
	}
	// The shell outlives this process briefly, to remove the directory.
	script := `"$@" & while kill -0 "$PARENT" 2>/dev/null && kill -0 $! 2>/dev/null; do sleep 1; done; kill -9 $!; wait $!; rm -rf "$DIR"`
	c := exec.Command("sh", append([]string{"-c", script, path, path}, flags("m0", dir, url, peer, "m0="+peer)...)...)
	c.Env = append(os.Environ(), "PARENT="+fmt.Sprint(os.Getpid()), "DIR="+dir)
	if err := c.Start(); err != nil {
		return nil, err
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, Logger: zap.NewNop()})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return []string{url}, awaitReady(client)
}

func flags(name, dir, url, peer, cluster string) []string {
	return []string{
		"--name", name, "--data-dir", dir, "--listen-client-urls", url, "--advertise-client-urls", url, "--listen-peer-urls", peer,
		"--initial-advertise-peer-urls", peer, "--initial-cluster", cluster, "--unsafe-no-fsync", "--log-level", "error",
	}
}

const readyTimeout = 30 * time.Second

func awaitReady(client *clientv3.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	for {
		attempt, cancel := context.WithTimeout(ctx, time.Second)
		_, err := client.Get(attempt, "x")
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

// URLs returns the client URLs of all members.
func (c *Cluster) URLs() []string {
	var urls []string
	for _, m := range c.Members {
		urls = append(urls, m.URL)
	}
	return urls
}

// Client returns a client for all members. It is closed when the test ends.
func (c *Cluster) Client() *clientv3.Client {
	c.t.Helper()
	client := must.Get(clientv3.New(clientv3.Config{Endpoints: c.URLs(), TLS: c.tls, Logger: zap.NewNop()}))(c.t)
	c.t.Cleanup(func() { client.Close() })
	return client
}

// AwaitReady blocks until the cluster serves requests.
func (c *Cluster) AwaitReady() {
	c.t.Helper()
	client := c.Client()
	if err := awaitReady(client); err != nil {
		c.t.Fatalf("etcd does not respond: %v\n%s", err, c.Members[0].log)
	}
}

// Run starts a member on its existing data, if any.
func (m *Member) Run() {
	m.t.Helper()
	m.log = &bytes.Buffer{}
	m.process = exec.Command(must.Get(binary())(m.t), m.flags...)
	m.process.Stdout, m.process.Stderr = m.log, m.log
	processes.EndWithParent(m.process)
	must.Succeed(m.t, m.process.Start())
}

// Kill kills a member with SIGKILL.
func (m *Member) Kill() {
	if m.process == nil {
		return
	}
	_ = m.process.Process.Kill() // the process may have exited
	_ = m.process.Wait()
	m.process = nil
}

// Backup kills the member, copies its data directory, restarts it, and returns the copy's path.
func (m *Member) Backup() string {
	m.t.Helper()
	m.Kill()
	dir := filepath.Join(m.t.TempDir(), "data")
	must.Succeed(m.t, os.CopyFS(dir, os.DirFS(m.dir)))
	m.Run()
	return dir
}

// Restore restarts a member from a backup. The cluster must have no other members, because they
// would replicate later changes.
func (m *Member) Restore(backup string) {
	m.t.Helper()
	m.Kill()
	must.Succeed(m.t, errors.Join(os.RemoveAll(m.dir), os.CopyFS(m.dir, os.DirFS(backup))))
	m.Run()
}

// Save saves a cluster snapshot, like etcdctl snapshot save, and returns its path.
func (c *Cluster) Save() string {
	c.t.Helper()
	path := filepath.Join(c.t.TempDir(), "snapshot.db")
	file := must.Get(os.Create(path))(c.t)
	content, err := c.Client().Snapshot(c.t.Context())
	if err == nil {
		_, err = io.Copy(file, content)
		err = errors.Join(err, content.Close())
	}
	must.Succeed(c.t, errors.Join(err, file.Close()))
	return path
}

// RestoreSaved restores all members from a Save file, like etcdutl snapshot restore. more holds
// additional flags.
func (c *Cluster) RestoreSaved(path string, more ...string) {
	c.t.Helper()
	etcdutl := must.Get(utility())(c.t)
	c.replace(func(m *Member) {
		args := append([]string{
			"snapshot", "restore", path, "--name", m.name, "--data-dir", m.dir, "--initial-cluster", c.peers(), "--initial-advertise-peer-urls", m.peer,
		}, more...)
		if out, err := exec.Command(etcdutl, args...).CombinedOutput(); err != nil {
			c.t.Fatalf("%v: %v\n%s", args, err, out)
		}
	})
}

// Replace restarts all members under the same identity but with empty data.
func (c *Cluster) Replace() {
	c.t.Helper()
	c.replace(func(*Member) {})
}

func (c *Cluster) replace(fill func(*Member)) {
	c.t.Helper()
	for _, m := range c.Members {
		m.Kill()
		must.Succeed(c.t, os.RemoveAll(m.dir))
	}
	for _, m := range c.Members {
		fill(m)
	}
	for _, m := range c.Members {
		m.Run()
	}
}

// CPUTime returns the CPU time used by a member.
func (m *Member) CPUTime() time.Duration {
	m.t.Helper()
	text := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.process.Process.Pid)))(m.t)
	_, rest, _ := strings.Cut(string(text), ") ") // the name of the program may contain spaces
	var user, system int64
	if _, err := fmt.Sscanf(strings.Join(strings.Fields(rest)[11:13], " "), "%d %d", &user, &system); err != nil {
		m.t.Fatal(err)
	}
	const perSecond = 100 // the kernel reports hundredths of seconds
	return time.Duration(user+system) * time.Second / perSecond
}

// Pause suspends a member until Resume.
func (m *Member) Pause() { m.signal(processes.Stop) }

// Resume continues a paused member.
func (m *Member) Resume() { m.signal(processes.Continue) }

func (m *Member) signal(s os.Signal) {
	m.t.Helper()
	must.Succeed(m.t, m.process.Process.Signal(s))
}

func freeURL() (string, error) {
	port, err := freeport.Find()
	return "http://" + freeport.Address(port), err
}
