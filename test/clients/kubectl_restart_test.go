package clients

import (
	"bufio"
	"net/url"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// serve starts the daemon as a process and returns it with its port, when it is ready.
func serve(t *testing.T, dir, profile, port string) (*exec.Cmd, string) {
	t.Helper()
	process := exec.Command(client.TroupeBinary(t), "serve", "--data-dir", dir, "--naming", profile, "--secure-port", port)
	process.Stderr = t.Output()
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Kill() // may have ended
		_ = process.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	found := ready.FindStringSubmatch(line)
	if found == nil {
		t.Fatalf("the daemon said %q, %v", line, err)
	}
	address, err := url.Parse(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return process, address.Port()
}

// TestKubectlKilled applies, kills the process, and starts it again where it was: everything that
// was answered is there, to the byte, under the same identity.
func TestKubectlKilled(t *testing.T) {
	t.Parallel()
	for _, profile := range profiles {
		t.Run(profile, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			process, port := serve(t, dir, profile, "0")
			c := newClientKubectl(t, client.KubectlBinary(t), true, profile, filepath.Join(dir, "admin.kubeconfig"), workspace(t))
			c.must(t, "kubectl apply -f app.yaml --validate=false")
			c.must(t, "kubectl create -n shop -f held.yaml -f small.yaml -f event.yaml --validate=false")
			c.must(t, "kubectl delete -n shop configmap held --wait=false")
			c.must(t, "kubectl delete -n shop configmap c")
			const items = "kubectl get namespaces,configmaps,secrets,pods,events -A -o json --show-managed-fields >"
			c.must(t, items+"before.json")
			before := c.must(t, "kubectl get namespaces,configmaps,secrets,pods,events -A -o name")
			if err := process.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = process.Wait() // reports the kill
			serve(t, dir, profile, port)
			if after := c.must(t, "kubectl get namespaces,configmaps,secrets,pods,events -A -o name"); after != before {
				t.Errorf("after the kill\n%s\nbefore it\n%s", after, before)
			}
			c.must(t, items+"after.json")
			c.must(t, "cmp before.json after.json")
			c.must(t, "kubectl apply -f changed.yaml --validate=false")
			c.must(t, `kubectl patch -n shop configmap held --type=merge -p '{"metadata":{"finalizers":null}}'`)
			c.must(t, "kubectl wait -n shop --for=jsonpath='{.data.mode}'=careful configmap/web --timeout=300s")
		})
	}
}

// must runs a command that must succeed, and returns what it printed.
func (c kubectlClient) must(t *testing.T, command string) string {
	t.Helper()
	s, err := c.run(command)
	if err != nil {
		t.Fatal(err)
	}
	if s.exit != 0 {
		t.Fatal(writeKubectl([]step{s}))
	}
	return s.output
}
