//go:build helm

package clients

import (
	"encoding/base64"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// TestHelm installs a chart with a CRD and a hook, and waits until its Deployment is available. It
// then upgrades, rolls back and uninstalls the release.
func TestHelm(t *testing.T) {
	s := client.Open(t, func(c *daemon.Config) {
		c.Naming, c.Controllers = "kubernetes", "*,workloads"
	})
	defer startKubelet(t, s.Kubeconfig())()
	home := t.TempDir()
	run := func(command string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), helm(t), strings.Fields(command)...)
		c.Env = append(os.Environ(), "KUBECONFIG="+s.Kubeconfig(), "HOME="+home)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("helm %s: %v\n%s", command, err, out)
		}
		return string(out)
	}
	mode := func() string {
		return s.Send(200, "GET", "/api/v1/namespaces/shop/configmaps/web", "", "").Object()["data"].(map[string]any)["mode"].(string)
	}
	const chart = " site testdata/helm/web --namespace shop --wait --timeout 10m"
	for _, step := range []struct{ command, want, mode string }{
		{"install --create-namespace" + chart, "STATUS: deployed", "calm"},
		{"upgrade --set mode=busy,replicas=3" + chart, "REVISION: 2", "busy"},
		{"upgrade --set mode=idle --dry-run=server" + chart, `mode: "idle"`, "busy"},
		{"upgrade --set mode=tidy --server-side=true --force-conflicts" + chart, "REVISION: 3", "tidy"},
		{"rollback site 1 --namespace shop --wait", "Rollback was a success", "calm"},
		{"history site --namespace shop", "Rollback to 1", "calm"},
		{"list --namespace shop --output json", `"revision":"4"`, "calm"},
		{"get manifest site --namespace shop", "kind: Widget", "calm"},
	} {
		if got := run(step.command); !strings.Contains(got, step.want) {
			t.Errorf("helm %s: no %q in\n%s", step.command, step.want, got)
		}
		if got := mode(); got != step.mode {
			t.Errorf("after helm %s the mode is %s, want %s", step.command, got, step.mode)
		}
	}
	run("uninstall site --namespace shop --wait")
	for _, path := range []string{"/api/v1/namespaces/shop/configmaps/web", "/apis/apps/v1/namespaces/shop/deployments/site", "/apis/helm.example.com/v1/namespaces/shop/widgets/web"} {
		s.Send(404, "GET", path, "", "")
	}
}

// TestHelmLookup checks that a chart's lookup function finds an existing object in a dry run.
func TestHelmLookup(t *testing.T) {
	t.Parallel()
	s := troupetest.Start(t, troupetest.WithFiles("testdata/helm/existing.yaml"))
	c := exec.CommandContext(t.Context(), helm(t), "template", "web", "testdata/helm/lookup", "--dry-run=server")
	c.Env = append(os.Environ(), "KUBECONFIG="+s.KubeconfigFile(), "HOME="+t.TempDir())
	out, err := c.CombinedOutput()
	if want := "password: " + base64.StdEncoding.EncodeToString([]byte("kept")); err != nil || !strings.Contains(string(out), want) {
		t.Errorf("no %q in %s, %v", want, out, err)
	}
}

func helm(t *testing.T) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", "tool", "-n", "helm.sh/helm/v4/cmd/helm")
	c.Dir, c.Env = "../helm", append(os.Environ(), "GOWORK=off")
	return strings.TrimSpace(string(must.Get(c.Output())(t)))
}
