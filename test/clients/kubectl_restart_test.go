package clients

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

func serve(t *testing.T, dir, profile, port string, flags ...string) *client.Process {
	t.Helper()
	args := append([]string{"serve", "--data-dir", dir, "--naming", profile, "--secure-port", port}, flags...)
	return client.StartDaemon(t, exec.Command(client.TroupeBinary(t), args...))
}

// TestKubectlKilled checks that killing and restarting the server loses no acknowledged write.
func TestKubectlKilled(t *testing.T) {
	t.Parallel()
	for _, profile := range profiles {
		t.Run(profile, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			p := serve(t, dir, profile, "0")
			c := newClientKubectl(t, client.KubectlBinary(t), true, profile, p.Kubeconfig, workspace(t))
			c.must(t, "kubectl apply -f app.yaml --validate=false")
			c.must(t, "kubectl create -n shop -f held.yaml -f small.yaml -f event.yaml --validate=false")
			c.must(t, "kubectl delete -n shop configmap held --wait=false")
			c.must(t, "kubectl delete -n shop configmap c")
			const items = "kubectl get namespaces,configmaps,secrets,pods,events -A -o json --show-managed-fields >"
			c.must(t, items+"before.json")
			before := c.must(t, "kubectl get namespaces,configmaps,secrets,pods,events -A -o name")
			p.Kill()
			serve(t, dir, profile, p.Port())
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
