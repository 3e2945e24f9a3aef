package extension

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// modules are Go modules, about 25 MB in total, of projects that publish CRDs and examples.
var modules = []string{
	"github.com/cert-manager/cert-manager@v1.21.2",
	"github.com/fluxcd/source-controller@v1.7.0",
	"github.com/kedacore/keda/v2@v2.21.0",
	"github.com/kubernetes-csi/external-snapshotter/client/v8@v8.7.0",
	"github.com/prometheus-operator/prometheus-operator@v0.85.0",
	"go.universe.tf/metallb@v0.16.2",
	"istio.io/api@v1.31.1",
	"knative.dev/serving@v0.51.0",
	"sigs.k8s.io/cluster-api@v1.14.2",
	"sigs.k8s.io/gateway-api@v1.4.1",
	"sigs.k8s.io/karpenter@v1.8.0",
}

// moreModules are larger modules, which are tested only with TROUPE_SOAK.
var moreModules = []string{
	"github.com/argoproj/argo-rollouts@v1.8.3",
	"github.com/external-secrets/external-secrets@v1.3.2",
	"github.com/kubeflow/trainer/v2@v2.0.0",
	"github.com/vmware-tanzu/velero@v1.18.3",
}

type definitionObject map[string]any

func (o definitionObject) text(path ...string) string {
	at := map[string]any(o)
	for _, name := range path[:len(path)-1] {
		at, _ = at[name].(map[string]any)
	}
	s, _ := at[path[len(path)-1]].(string)
	return s
}

func (o definitionObject) json() string {
	b, _ := json.Marshal(o)
	return string(b)
}

func fetch(t *testing.T, modules []string) (folders []string) {
	t.Helper()
	command := exec.Command("go", append([]string{"mod", "download", "-json"}, modules...)...)
	command.Dir, command.Env = t.TempDir(), append(os.Environ(), "GOFLAGS=-mod=mod")
	out, err := command.Output()
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for range modules {
		var module struct{ Path, Dir, Error string }
		if fault := decoder.Decode(&module); fault != nil || module.Dir == "" {
			t.Fatalf("%v: %s: %s", err, module.Path, module.Error)
		}
		folders = append(folders, module.Dir)
	}
	return folders
}

type project struct {
	definitions []definitionObject // with unique names
	examples    []definitionObject // of kinds that the CRDs define
}

var documentSeparator = regexp.MustCompile(`(?m)^---.*$`)

// read returns the CRDs and examples in a module. It skips templates, and directories named
// scripts, which contain copies of other projects' CRDs.
func read(t *testing.T, folder string) project {
	t.Helper()
	var p project
	var others []definitionObject
	groups, names := map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "scripts" {
			return filepath.SkipDir
		}
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") && !strings.HasSuffix(path, ".yml") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, document := range documentSeparator.Split(string(text), -1) {
			var o definitionObject
			if strings.Contains(document, "{{") || yaml.Unmarshal([]byte(document), &o) != nil {
				continue
			}
			switch name := o.text("metadata", "name"); {
			case o.text("kind") != "CustomResourceDefinition":
				others = append(others, o)
			case o.text("apiVersion") == "apiextensions.k8s.io/v1" && o.text("spec", "scope") != "" && !names[name]: // otherwise it is a patch of a CRD
				names[name], groups[o.text("spec", "group")] = true, true
				delete(o, "status")
				p.definitions = append(p.definitions, o)
			}
		}
		return nil
	})
	if err != nil || len(p.definitions) == 0 {
		t.Fatalf("%s: %d definitions, %v", folder, len(p.definitions), err)
	}
	for _, o := range others {
		if group, _, ok := strings.Cut(o.text("apiVersion"), "/"); ok && groups[group] {
			p.examples = append(p.examples, o)
		}
	}
	return p
}
