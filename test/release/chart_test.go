package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
	"github.com/troupe-api/troupe/internal/must"
)

const chartDir = "../../docs/deploy/chart"

// render returns the objects of a chart as YAML by file name, without empty files and notes.
func render(chart, values string) (map[string]string, error) {
	c, err := loader.Load(chart)
	if err != nil {
		return nil, err
	}
	var given map[string]any
	if err := yaml.Unmarshal([]byte(values), &given); err != nil {
		return nil, err
	}
	v, err := util.ToRenderValues(c, given, common.ReleaseOptions{Name: "troupe", Namespace: "troupe", IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(c, v)
	if err != nil {
		return nil, err
	}
	objects := map[string]string{}
	for name, text := range files {
		if strings.TrimSpace(text) != "" && strings.HasSuffix(name, ".yaml") {
			objects[path.Base(name)] = strings.TrimSpace(text) + "\n"
		}
	}
	return objects, nil
}

const ownImage = "image: {repository: registry.example/troupe}\n"

const onEtcd = `
replicas: 3
etcd: {servers: ["https://etcd-0.etcd:2379", "https://etcd-1.etcd:2379", "https://etcd-2.etcd:2379"], secret: troupe-etcd}
serviceMonitor: {enabled: true}
`

// TestChart renders the packed chart and creates its objects on a server, in a namespace that warns
// about Pods below the restricted level.
func TestChart(t *testing.T) {
	t.Parallel()
	r := must.Get(built())(t)
	for name, test := range map[string]struct {
		values string
		files  []string
	}{
		"one server": {ownImage, []string{"networkpolicy.yaml", "service.yaml", "statefulset.yaml"}},
		"on etcd":    {ownImage + onEtcd, []string{"networkpolicy.yaml", "poddisruptionbudget.yaml", "service.yaml", "servicemonitor.yaml", "statefulset.yaml"}},
		"all values": {
			onEtcd + `
image: {repository: registry.example/other, tag: "1"}
extraArgs: [--v=2, --max-watches=100]
service: {type: LoadBalancer, port: 6443}
networkPolicy: {from: [{namespaceSelector: {matchLabels: {team: platform}}}]}
nodeSelector: {kubernetes.io/os: linux}
tolerations: [{key: dedicated, operator: Exists}]
`, []string{"networkpolicy.yaml", "poddisruptionbudget.yaml", "service.yaml", "servicemonitor.yaml", "statefulset.yaml"},
		},
		"only the server": {ownImage + "networkPolicy: {enabled: false}\nstorage: {className: fast}", []string{"service.yaml", "statefulset.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := must.Get(render(filepath.Join(r.out, "troupe-0.3.0.tgz"), test.values))(t)
			if got := slices.Sorted(maps.Keys(objects)); !slices.Equal(got, test.files) {
				t.Errorf("got %q, want %q", got, test.files)
			}
			s := troupetest.Start(t, troupetest.WithNaming("kubernetes"), troupetest.WithFiles(serviceMonitors(t)))
			createObject(t, s, "/api/v1/namespaces", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: troupe\n  labels: {pod-security.kubernetes.io/warn: restricted}")
			for file, text := range objects {
				createObject(t, s, collections[file], text)
			}
			var set struct {
				Spec struct {
					Template struct {
						Spec struct {
							Containers []struct {
								Image string
								Args  []string
							}
						}
					}
				}
			}
			must.Succeed(t, yaml.Unmarshal([]byte(objects["statefulset.yaml"]), &set))
			container := set.Spec.Template.Spec.Containers[0]
			checkFlags(t, container.Args[1:])
			if want := "registry.example/troupe:0.3.0"; strings.Contains(test.values, ownImage) && container.Image != want {
				t.Errorf("the image is %s, want %s", container.Image, want)
			}
		})
	}
	if _, err := render(chartDir, ""); err == nil || !strings.Contains(err.Error(), "image.repository: required: push the image") {
		t.Errorf("without an image: %v", err)
	}
	if _, err := render(chartDir, ownImage+"replicas: 2"); err == nil || !strings.Contains(err.Error(), "replicas: more than one needs etcd.servers") {
		t.Errorf("two replicas without etcd: %v", err)
	}
}

// collections maps the files of the chart to the paths of their objects.
var collections = map[string]string{
	"networkpolicy.yaml":       "/apis/networking.k8s.io/v1/namespaces/troupe/networkpolicies",
	"poddisruptionbudget.yaml": "/apis/policy/v1/namespaces/troupe/poddisruptionbudgets",
	"service.yaml":             "/api/v1/namespaces/troupe/services",
	"servicemonitor.yaml":      "/apis/monitoring.coreos.com/v1/namespaces/troupe/servicemonitors",
	"statefulset.yaml":         "/apis/apps/v1/namespaces/troupe/statefulsets",
}

// createObject creates an object, which the server must accept without warnings.
func createObject(t *testing.T, s *troupetest.Server, collection, text string) {
	t.Helper()
	answer := must.Get(s.Client().Post(s.URL+collection+"?fieldValidation=Strict", "application/yaml", strings.NewReader(text)))(t)
	defer answer.Body.Close()
	body := must.Get(io.ReadAll(answer.Body))(t)
	if answer.StatusCode != http.StatusCreated || len(answer.Header.Values("Warning")) > 0 {
		t.Errorf("%s: %s %q %s", collection, answer.Status, answer.Header.Values("Warning"), body)
	}
}

// checkFlags checks that the arguments are valid flags of troupe serve.
func checkFlags(t *testing.T, args []string) {
	t.Helper()
	c := daemon.Default()
	groups := c.Flags()
args:
	for _, arg := range args {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		for _, g := range groups {
			if f := g.Flags.Lookup(name); f != nil {
				if err := f.Value.Set(value); err != nil {
					t.Errorf("%s: %v", arg, err)
				}
				continue args
			}
		}
		t.Errorf("troupe serve has no flag %s", arg)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}

// serviceMonitors returns the path of the ServiceMonitor CRD.
func serviceMonitors(t *testing.T) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "github.com/prometheus-operator/prometheus-operator@v0.85.0")
	c.Dir, c.Env = t.TempDir(), append(os.Environ(), "GOFLAGS=-mod=mod")
	var module struct{ Dir string }
	must.Succeed(t, json.Unmarshal(must.Get(output(c))(t), &module))
	return filepath.Join(module.Dir, "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml")
}

// TestKustomization checks that docs/deploy/kustomize-etcd contains the same objects as the chart
// with etcd. With -update, it writes them.
func TestKustomization(t *testing.T) {
	t.Parallel()
	objects := must.Get(render(chartDir, ownImage+onEtcd))(t)
	for file, text := range objects {
		text = "# Written by go test . -run TestKustomization -update in test/release, from ../chart.\n" + text
		to := filepath.Join("../../docs/deploy/kustomize-etcd", file)
		if file == "servicemonitor.yaml" {
			to = filepath.Join("../../docs/deploy/kustomize-etcd/monitoring", file)
		}
		if *update {
			must.Succeed(t, os.WriteFile(to, []byte(text), 0o644))
			continue
		}
		if got := must.Get(os.ReadFile(to))(t); !bytes.Equal(got, []byte(text)) {
			t.Errorf("%s differs from the chart; run go test . -run TestKustomization -update. It has\n%s\nwant\n%s", to, got, text)
		}
	}
}
