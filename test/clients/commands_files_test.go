package clients

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: far}\ndata: {mode: fast}\n"

// TestURL checks that manifests can be read from URLs, and that other content is rejected.
func TestURL(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "platform")
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/app.yaml":
			fmt.Fprint(w, manifest)
		case "/moved.yaml":
			http.Redirect(w, r, "/app.yaml", http.StatusFound)
		case "/page":
			fmt.Fprint(w, "<html><body>Sign in</body></html>")
		default:
			http.NotFound(w, r)
		}
	}))
	defer web.Close()
	p.expect(0, "configmap/far created\n", "apply", "-f", web.URL+"/app.yaml")
	p.expect(0, "configmap/far unchanged\n", "apply", "-f", web.URL+"/moved.yaml")
	p.expect(0, "mode: fast\n", "get", "-f", web.URL+"/app.yaml", "-o", `jsonpath=mode: {.data.mode}{"\n"}`)
	p.expect(1, fmt.Sprintf("error: unable to read URL %q, server reported 404 Not Found, status code=404\n", web.URL+"/none.yaml"), "apply", "-f", web.URL+"/none.yaml")
	if out, code := p.run("apply", "-f", web.URL+"/page"); code != 1 || !strings.HasPrefix(out, "error: error parsing "+web.URL+"/page") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if out, code := p.run("apply", "-f", "https://127.0.0.1:1/app.yaml"); code != 1 || !strings.Contains(out, "connection refused") {
		t.Errorf("exit code %d: %s", code, out)
	}
	p.expect(0, `configmap "far" deleted from default namespace`+"\n", "delete", "-f", web.URL+"/app.yaml")
}

// TestKustomize checks that -k runs kustomize or kubectl from PATH. If neither is installed, the
// error explains how to install one.
func TestKustomize(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "platform")
	if err := os.Mkdir(filepath.Join(p.dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "PATH="+filepath.Join(p.dir, "bin")) // the last value counts
	const hint = "error: -k needs kustomize or kubectl in PATH: install it from https://kubectl.docs.kubernetes.io/installation/kustomize, or build the kustomization elsewhere and use -f\n"
	p.expect(1, hint, "apply", "-k", "overlay")
	p.write("bin/kubectl", "#!/bin/sh\n[ \"$*\" = 'kustomize overlay' ] && printf '"+strings.ReplaceAll(manifest, "\n", `\n`)+"'\n")
	p.expect(0, "configmap/far created (server dry run)\n", "apply", "-k", "overlay", "--dry-run=server")
	p.write("bin/kustomize", "#!/bin/sh\n[ \"$*\" = 'build overlay' ] && printf '"+strings.ReplaceAll(manifest, "\n", `\n`)+"'\n")
	p.expect(0, "configmap/far created\n", "apply", "-k", "overlay")
	p.expect(0, `configmap "far" deleted from default namespace`+"\n", "delete", "-k", "overlay")
	p.write("bin/kustomize", "#!/bin/sh\necho 'Error: no kustomization.yaml' >&2\nexit 7\n")
	p.expect(1, "Error: no kustomization.yaml\nerror: kustomize build overlay: exit status 7\n", "apply", "-k", "overlay")
}

const widgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`

// TestApplyDefinition checks that one apply of a directory creates custom objects even if their CRD
// comes later in the directory.
func TestApplyDefinition(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "kubernetes")
	if err := os.Mkdir(filepath.Join(p.dir, "app"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.write("app/1.yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: one}\nspec: {size: 1}\n")
	p.write("app/2.yaml", widgets)
	p.expect(0, "customresourcedefinition.apiextensions.k8s.io/widgets.example.com created\nwidget.example.com/one created\n", "apply", "-f", "app")
}

// TestApplyReportsAllErrors checks that all errors are reported, and that an invalid object does
// not keep other objects from being applied.
func TestApplyReportsAllErrors(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "kubernetes")
	p.write("app.yaml", strings.Join([]string{
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nbad: [\n",
		"kind: ConfigMap\nmetadata: {name: b}\n",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c_c}\n",
		"apiVersion: v1\nkind: Service\nmetadata: {name: d}\nspec: {ports: [{port: 0}], type: X}\n",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: e}\n",
	}, "---\n"))
	out, code := p.run("apply", "-f", "app.yaml", "-f", "absent.yaml")
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	for _, part := range []string{"document 1", "apiVersion not set", `"c_c"`, "spec.ports[0].port", "spec.type", "absent.yaml", "configmap/e created"} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is missing in\n%s", part, out)
		}
	}
}
