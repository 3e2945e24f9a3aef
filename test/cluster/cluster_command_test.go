package cluster

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// startCommand starts troupe cluster with two nodes and the built-in controllers and scheduler. It
// blocks until the command has printed its usage instructions.
func startCommand(t *testing.T, dir string, port string, more ...string) *process {
	t.Helper()
	p := start(t, "troupe cluster", built.Get(t).troupe, append(clusterArgs(dir, port), more...)...)
	if !p.says("export KUBECONFIG=") {
		t.Fatalf("the cluster does not start\n%s", p.Log)
	}
	return p
}

func clusterArgs(dir, port string) []string {
	return []string{"cluster", "--dir", dir, "--secure-port", port, "--nodes=2", "--kube-controller-manager=built-in", "--kube-scheduler=built-in"}
}

// wantRefused checks that troupe cluster fails and prints advice as its last line.
func wantRefused(t *testing.T, advice, dir, port string) {
	t.Helper()
	p := start(t, "troupe cluster", built.Get(t).troupe, clusterArgs(dir, port)...)
	p.Wait()
	if text := p.Log.String(); p.Cmd.ProcessState.Success() || !strings.HasSuffix(text, "\n"+advice+"\n") {
		t.Errorf("%v\n%s", p.Cmd.ProcessState, text)
	}
}

// TestCommand checks that troupe cluster suggests a flag if its directory or port is in use, exits
// cleanly, and restores the cluster on restart.
func TestCommand(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cluster")
	c := newShells(t, filepath.Join(dir, "data"))
	first := startCommand(t, dir, "0")
	c.daemon = first
	if out, err := c.shell("default", "k create deployment web --image=a --replicas=3 && k rollout status deployment/web --timeout=300s"); err != nil {
		t.Fatal(out)
	}
	port := regexp.MustCompile(`https://127\.0\.0\.1:(\d+)`).FindStringSubmatch(first.Log.String())[1]
	wantRefused(t, "stop the cluster that uses it, or choose another directory with --dir", dir, "0")
	if out, err := c.shell("default", "k exec deployment/web -- echo still"); out != "still" {
		t.Errorf("exec after a second start was refused: %v\n%s", err, out)
	}
	wantRefused(t, "choose another --secure-port (0 for a free port)", filepath.Join(t.TempDir(), "other"), port)

	first.Stop()
	if left, err := filepath.Glob(filepath.Join(dir, "kubelet*")); len(left) > 0 || err != nil {
		t.Errorf("%q is left (%v)", left, err)
	}
	c.daemon = startCommand(t, dir, "0")
	c.eventually(t, "3", `k get pods -l app=web --no-headers | grep -cw Running`)
	if out, err := c.shell("default", "k scale deployment web --replicas=1"); err != nil {
		t.Fatal(out)
	}
	c.eventually(t, "1", `k get pods -l app=web --no-headers | wc -l`)
}

// TestPlatform checks nodes, leases, volumes and built-in controllers in the platform naming
// profile, with troupe as the client.
func TestPlatform(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cluster")
	c := newShells(t, filepath.Join(dir, "data"))
	c.daemon = startCommand(t, dir, "0", "--naming=platform")
	troupe := built.Get(t).troupe + " -n default "
	if out, err := c.shell("default", troupe+"apply -f volumes.yaml"); err != nil {
		t.Fatal(out)
	}
	c.eventually(t, "Bound Bound Bound", troupe+"get pvc -o 'jsonpath={.items[*].status.phase}'")
	c.eventually(t, "Running Running", troupe+"get pods -o 'jsonpath={.items[*].status.phase}'")
	c.eventually(t, "node-0 node-1", troupe+"get leases -n platform-node-lease -o 'jsonpath={.items[*].metadata.name}'")
	if out, err := c.shell("default", troupe+"exec db-0 -- hostname && "+troupe+"delete statefulset db && "+troupe+"delete pvc --all"); err != nil || !strings.HasPrefix(out, "db-0\n") {
		t.Fatal(out, err)
	}
	c.eventually(t, "0", troupe+"get pv -o name 2>/dev/null | wc -l")
}
