package command

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
)

// TestPlanInitialState plans the same input for a running server, its data directory, and its
// backup. The plans are equal, except for a webhook that only the last two include.
func TestPlanInitialState(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{troupetest.Kubernetes, troupetest.Platform} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			naming := must.Get(meta.ParseNaming(profile))(t)
			base, input, data := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "data")
			translateFiles(t, naming, "testdata/plan/initial/base", base)
			translateFiles(t, naming, "testdata/plan/initial/input", input)
			server := troupetest.Start(t, troupetest.WithNaming(profile), troupetest.WithConfig(func(c *daemon.Config) {
				c.Ephemeral, c.DataDir = false, data
			}), troupetest.WithFiles(base))
			before := changes(t, server)
			backup := filepath.Join(t.TempDir(), "backup")
			if out := runCommand(t, []string{"backup", "--kubeconfig", server.KubeconfigFile(), backup}); !strings.HasPrefix(out, "backup of ") {
				t.Fatal(out)
			}
			run := func(args ...string) string {
				out := runCommand(t, append([]string{"plan", input, "--naming", profile}, args...))
				out = strings.NewReplacer(input, "INPUT", data, "DATA", backup, "DATA", naming.Group(""), ".k8s.io").Replace(out)
				return variable.ReplaceAllString(out, "$1: …")
			}
			live := run("--kubeconfig", server.KubeconfigFile())
			compareGolden(t, "testdata/plan/initial/live.txt", live)
			compareGolden(t, "testdata/plan/initial/conflicts.txt", run("--kubeconfig", server.KubeconfigFile(), "--force-conflicts=false", "--field-manager", "other"))
			directory := run("--from", data, "--allow-missing-webhooks")
			compareGolden(t, "testdata/plan/initial/from.txt", directory)
			if got := run("--from", backup, "--allow-missing-webhooks"); got != directory {
				t.Errorf("with a backup:\n%s\nwith the directory:\n%s", got, directory)
			}
			if after := changes(t, server); after != before {
				t.Errorf("the plans changed the server: %s, before %s", after, before)
			}
		})
	}
}

// TestPlanLiveTwice plans a CRD that is read from the server twice: with all CRDs and as an object
// of the input.
func TestPlanLiveTwice(t *testing.T) {
	t.Parallel()
	const file = "testdata/plan/definitions/crds/widgets.yaml"
	server := troupetest.Start(t, troupetest.WithFiles(file))
	got := runCommand(t, []string{"plan", file, "--kubeconfig", server.KubeconfigFile(), "--field-manager", "troupetest"})
	if want := "objects: 1, errors: 0, warnings: 0; created: 0, changed: 0, unchanged: 1\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant %s", got, want)
	}
}

// TestPlanLiveForbidden plans as a user who may read only some of the input's objects. A plan would
// wrongly show the others as created.
func TestPlanLiveForbidden(t *testing.T) {
	t.Parallel()
	server := troupetest.Start(t, troupetest.WithFiles("testdata/plan/forbidden/base.yaml"))
	user := server.User("reader").KubeconfigFile()
	for _, c := range []struct{ input, want string }{
		{"readable.yaml", "objects: 1, errors: 0, warnings: 5; created: 1, changed: 0, unchanged: 0\n"},
		{"all.yaml", "error: reading the live state: the user needs the permission to get configmaps, namespaces, secrets, widgets.example.com\n[exit 2]\n"},
	} {
		if got := runCommand(t, []string{"plan", "testdata/plan/forbidden/" + c.input, "--kubeconfig", user}); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: got\n%s\nwant %s", c.input, got, c.want)
		}
	}
}

var variable = regexp.MustCompile(`(uid|creationTimestamp|"version"): [^\s,]+`)

// changes returns the current resource version of a server.
func changes(t *testing.T, server *troupetest.Server) string {
	t.Helper()
	response := must.Get(server.Client().Get(server.URL + "/api/v1/configmaps?limit=1"))(t)
	defer response.Body.Close()
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	must.Succeed(t, json.NewDecoder(response.Body).Decode(&list))
	return list.Metadata.ResourceVersion
}

// translateFiles copies manifests and translates their names to a naming profile.
func translateFiles(t *testing.T, naming *meta.Naming, from, to string) {
	t.Helper()
	for _, e := range must.Get(os.ReadDir(from))(t) {
		text := string(must.Get(os.ReadFile(filepath.Join(from, e.Name())))(t))
		must.Succeed(t, os.WriteFile(filepath.Join(to, e.Name()), []byte(strings.ReplaceAll(text, ".k8s.io", naming.Group(""))), 0o644))
	}
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		must.Succeed(t, os.WriteFile(file, []byte(got), 0o644))
	}
	if want := string(must.Get(os.ReadFile(file))(t)); got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}

func TestPlanCallsWebhooks(t *testing.T) {
	t.Parallel()
	webhook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			APIVersion, Kind string
			Request          struct{ UID string }
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		json.NewEncoder(w).Encode(map[string]any{"apiVersion": review.APIVersion, "kind": review.Kind, "response": map[string]any{
			"uid": review.Request.UID, "allowed": false, "status": map[string]any{"message": "not on a Friday"},
		}})
	}))
	defer webhook.Close()
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: webhook.Certificate().Raw}))
	file := filepath.Join(t.TempDir(), "all.yaml")
	must.Succeed(t, os.WriteFile(file, []byte(`apiVersion: v1
kind: ConfigMap
metadata: {name: one}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checks}
webhooks:
- name: checks.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {url: `+webhook.URL+`/check, caBundle: `+ca+`}
  rules:
  - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
`), 0o644))
	got := runCommand(t, []string{"validate", file})
	want := file + `:1: error: ConfigMap default/one: admission webhook "checks.example.com" denied the request: not on a Friday
objects: 2, errors: 1, warnings: 0
[exit 1]
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
