package command

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
	"github.com/troupe-api/troupe/internal/must"
)

// TestImport compares imported objects with those of a server on the resulting data directory.
func TestImport(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{troupetest.Kubernetes, troupetest.Platform} {
		for secrets, value := range map[string]string{"redact": "cmVkYWN0ZWQ=", "copy": "c2VjcmV0", "omit": ""} {
			t.Run(profile+" "+secrets, func(t *testing.T) {
				t.Parallel()
				source := troupetest.Start(t, troupetest.WithNaming(profile), troupetest.WithFiles("testdata/import/"+profile+".yaml"))
				dir := filepath.Join(t.TempDir(), "data")
				out := runCommand(t, []string{"import", "--kubeconfig", source.KubeconfigFile(), "--data-dir", dir, "--secrets", secrets})
				if want := "troupe serve --naming " + profile + " --data-dir " + dir; !strings.Contains(out, want) {
					t.Fatalf("the command printed %q, want %q in it", out, want)
				}
				if omitted := strings.Contains(out, "left out: secrets"); omitted != (secrets == "omit") {
					t.Errorf("the command printed %q", out)
				}
				copied := troupetest.Start(t, troupetest.WithNaming(profile), troupetest.WithConfig(func(c *daemon.Config) {
					c.Ephemeral, c.DataDir = false, dir
				}))
				for _, path := range []string{
					"/api/v1/namespaces/shop", "/api/v1/namespaces/shop/configmaps/settings", "/apis/apps/v1/namespaces/shop/deployments/web",
					"/apis/example.com/v1/namespaces/shop/widgets/small", "/apis/apiextensions" + map[string]string{troupetest.Kubernetes: ".k8s.io", troupetest.Platform: ".platform.io"}[profile] + "/v1/customresourcedefinitions/widgets.example.com",
				} {
					if got, want := object(t, copied, path), object(t, source, path); fmt.Sprint(got) != fmt.Sprint(want) || got["metadata"] == nil {
						t.Errorf("%s is\n%v\nwant\n%v", path, got, want)
					}
				}
				secret := object(t, copied, "/api/v1/namespaces/shop/secrets/login")
				data, _ := secret["data"].(map[string]any)
				if got, _ := data["password"].(string); got != value {
					t.Errorf("the password is %q, want %q: %v", got, value, secret)
				}
				if text := fmt.Sprint(secret); secrets == "redact" && strings.Contains(text, "c2VjcmV0") {
					t.Errorf("the Secret still has its value: %s", text)
				}
			})
		}
	}
}

func TestImportErrors(t *testing.T) {
	t.Parallel()
	server, dir := troupetest.Start(t, troupetest.WithFaults(troupetest.Fault{Effect: "InternalError", Verbs: []string{"list"}})), t.TempDir()
	for _, c := range []struct{ args, want string }{
		{"--secrets hide", `--secrets "hide": must be redact, copy or omit`},
		{"--data-dir " + server.KubeconfigFile(), "not a directory"},
		{"--context missing", "missing"},
		{"--data-dir testdata", `cannot restore into testdata: it is not empty`}, // before the objects are read
		{"", "listing "},
	} {
		args := append([]string{"import", "--kubeconfig", server.KubeconfigFile(), "--data-dir", filepath.Join(dir, "data")}, strings.Fields(c.args)...)
		if out := runCommand(t, args); !strings.Contains(out, c.want) {
			t.Errorf("%s: %q, want %q in it", c.args, out, c.want)
		}
	}
	if found := must.Get(filepath.Glob(filepath.Join(dir, "*")))(t); len(found) > 0 {
		t.Errorf("the failed commands created %v", found)
	}
}

func object(t *testing.T, server *troupetest.Server, path string) (o map[string]any) {
	t.Helper()
	response := must.Get(server.Client().Get(server.URL + path))(t)
	defer response.Body.Close()
	must.Succeed(t, json.Unmarshal(must.Get(io.ReadAll(response.Body))(t), &o))
	return o
}

func TestRestoreHint(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{troupetest.Kubernetes, troupetest.Platform} {
		server, dir := troupetest.Start(t, troupetest.WithNaming(profile)), t.TempDir()
		backup, restored := filepath.Join(dir, "backup"), filepath.Join(dir, "restored")
		runCommand(t, []string{"backup", "--kubeconfig", server.KubeconfigFile(), backup})
		out := runCommand(t, []string{"restore", "--data-dir", restored, backup})
		if want := ": troupe serve --naming " + profile + " --data-dir " + restored + "\n"; !strings.HasSuffix(out, want) {
			t.Errorf("the command printed %q, want %q", out, want)
		}
	}
}
