package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/persist/etcd/etcdtest/freeport"
	"github.com/troupe-api/troupe/test/client"
)

// A process is a running program of a test cluster. Failure messages contain its name.
type process struct {
	*client.Process
	name string
}

func start(t testing.TB, name, path string, args ...string) *process {
	t.Helper()
	return &process{client.Start(t, exec.Command(path, args...)), name}
}

// says blocks until the process has logged text. It returns false if the process exits first.
func (p *process) says(text string) bool {
	return client.Poll(func() bool { return strings.Contains(p.Log.String(), text) || !p.Running() }) && strings.Contains(p.Log.String(), text)
}

// A testCluster is the daemon and the other processes of a cluster.
type testCluster struct {
	t       testing.TB // processes stop when this test ends
	dir     string
	port    int
	metrics *metricsServer
	daemon  *process
	flags   []string // daemon flags
	around  []*process
	path    string          // PATH for the commands in tables
	kubectl *client.Workers // runs kubectl in these commands
}

// builtIn is the value of --controllers for a cluster without kube-controller-manager and
// kube-scheduler.
const builtIn = "*,workloads,scheduler,node-lifecycle-controller,taint-eviction-controller"

// lostNodes contains daemon flags for a shorter time until a silent node becomes Unknown. The grace
// period must exceed the lease renewal interval of 10 s.
var lostNodes = []string{"--node-monitor-grace-period=15s", "--node-monitor-period=1s"}

func newShells(t testing.TB, dir string) *testCluster {
	t.Helper()
	return &testCluster{dir: dir, path: os.Getenv("PATH"), kubectl: client.SharedWorkers(client.KubectlBinary(t))}
}

func newCluster(t testing.TB, p programs, nodes int) *testCluster {
	t.Helper()
	c := newShells(t, filepath.Join(t.TempDir(), "data"))
	c.t, c.port, c.metrics = t, freePort(t), startMetrics(t)
	c.flags = []string{"--aggregator-service-resolver", metricsService + "=" + c.metrics.address()}
	if p.kubeadm != "" {
		c.path += ":" + filepath.Dir(p.kubeadm)
		c.flags = append(c.flags, "--enable-bootstrap-token-auth")
	}
	if p.manager == "" {
		c.flags = append(append(c.flags, "--controllers", builtIn, "--horizontal-pod-autoscaler-sync-period=1s"), lostNodes...)
	}
	c.serve(t, p.troupe)
	kubeconfig := "--kubeconfig=" + c.kubeconfig()
	if p.manager != "" {
		pki := filepath.Join(c.dir, "pki")
		c.around = append(c.around,
			start(t, "kube-controller-manager", p.manager, append(slices.Clone(lostNodes), kubeconfig, "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=20", "--use-service-account-credentials",
				"--service-account-private-key-file="+filepath.Join(pki, "sa.key"), "--root-ca-file="+filepath.Join(pki, "ca.crt"),
				"--controllers=*,bootstrapsigner,tokencleaner", // kubeadm's setting
				"--horizontal-pod-autoscaler-sync-period=1s", "--leader-elect-lease-duration=60s", "--leader-elect-renew-deadline=50s")...),
			start(t, "kube-scheduler", p.scheduler, kubeconfig, "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=20", "--leader-elect-lease-duration=60s", "--leader-elect-renew-deadline=50s"),
		)
	}
	c.around = append(c.around, start(t, "nodes", p.troupe, "cluster", "--join", c.kubeconfig(), "--nodes", strconv.Itoa(nodes)))
	c.eventually(t, strconv.Itoa(nodes), `kubectl get nodes --no-headers | grep -cw Ready`)
	if p.kwok != "" {
		c.startKwok(t, p.kwok)
	}
	return c
}

// startKwok installs kwok's Stages and starts kwok for Nodes with kwok's annotation.
func (c *testCluster) startKwok(t testing.TB, path string) {
	t.Helper()
	module, err := ModuleDir("kwok", "sigs.k8s.io/kwok")
	if err != nil {
		t.Fatal(err)
	}
	for _, files := range []string{"crd", "stage/fast"} {
		if out, err := c.shell("default", "kubectl apply --server-side -k "+filepath.Join(module, "kustomize", files)); err != nil {
			t.Fatalf("kwok's %s: %s", files, out)
		}
	}
	c.around = append(c.around, start(t, "kwok", path, "--kubeconfig="+c.kubeconfig(), "--enable-crds=Stage",
		"--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake", "--node-lease-duration-seconds=8", "--node-ip=127.0.0.1", "--cidr=10.120.0.0/16"))
}

func freePort(t testing.TB) int {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func (c *testCluster) kubeconfig() string { return filepath.Join(c.dir, "admin.kubeconfig") }

func (c *testCluster) serve(t testing.TB, troupe string) {
	t.Helper()
	args := append([]string{"serve", "--naming=kubernetes", "--data-dir", c.dir, "--secure-port", strconv.Itoa(c.port), "--service-cluster-ip-range=10.0.0.0/16"}, c.flags...)
	c.daemon = start(c.t, "troupe", troupe, args...)
	if !c.daemon.AwaitReady() {
		t.Fatalf("the daemon is not ready\n%s", c.daemon.Log)
	}
}

func (c *testCluster) restart(t testing.TB, troupe string) {
	t.Helper()
	c.daemon.Kill()
	c.serve(t, troupe)
}

// shell runs a command line and returns its trimmed output. In command, k is kubectl in the given
// namespace.
func (c *testCluster) shell(namespace, command string) (string, error) {
	sh := client.Shell{
		Dir: "testdata/cluster", Programs: map[string]*client.Workers{"kubectl": c.kubectl},
		Env: append(os.Environ(), "KUBECONFIG="+c.kubeconfig(), "NAMESPACE="+namespace, "PATH="+c.path),
	}
	out, code, err := sh.Run(context.Background(), `k() { kubectl --namespace="$NAMESPACE" "$@"; }; `+command)
	if code != 0 {
		err = fmt.Errorf("exit code %d", code)
	}
	return strings.TrimSpace(out), err
}

func (c *testCluster) eventually(t testing.TB, want, command string) {
	t.Helper()
	c.eventuallyIn(t, "default", want, command)
}

func (c *testCluster) eventuallyIn(t testing.TB, namespace, want, command string) {
	t.Helper()
	api, err := client.New(c.kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	var got string
	var version uint64
	if client.Poll(func() bool {
		// Rerun the command only after an API write. Lease renewals are also writes, so it reruns
		// at least every few seconds.
		list, fault := api.List(t.Context(), "/api/v1/namespaces/none/configmaps", nil)
		if fault == nil && list.Version == version {
			return false
		}
		version = list.Version
		got, err = c.shell(namespace, command)
		return got == want
	}) {
		return
	}
	state, _ := c.shell(namespace, "k get all,events") // for the failure message
	t.Fatalf("%s: %q (%v), want %q\n%s\n%s", command, got, err, want, state, c.logs())
}

func (c *testCluster) logs() string {
	var text strings.Builder
	for _, p := range append([]*process{c.daemon}, c.around...) {
		lines := strings.Split(strings.TrimSpace(p.Log.String()), "\n")
		fmt.Fprintf(&text, "--- %s\n%s\n", p.name, strings.Join(lines[max(len(lines)-20, 0):], "\n"))
	}
	return text.String()
}

func (c *testCluster) checkAlive(t testing.TB) {
	t.Helper()
	for _, p := range c.around {
		if !p.Running() {
			t.Fatalf("%s has ended\n%s", p.name, c.logs())
		}
	}
}
