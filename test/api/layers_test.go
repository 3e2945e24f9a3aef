package api

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const module = "github.com/troupe-api/troupe/"

// layers lists the layers that each layer may import in addition to itself and internal.
var layers = map[string][]string{
	"internal":           {},
	"kinds":              {},
	"persist":            {},
	"actors":             {"kinds", "persist"},
	"actors/controllers": {"actors", "kinds", "policy"},
	"policy":             {"kinds"},
	"http":               {"kinds", "policy"},
	"cmd":                {"actors", "actors/controllers", "http", "kinds", "persist", "policy"},
	"bench":              {"cmd", "policy"}, // policy/kubeconfig only
}

// onlyImporter maps prefixes of import paths to the only package that may import them.
var onlyImporter = map[string]string{
	"github.com/asynkron/protoactor-go":  "actors/internal/runtime",
	"github.com/bufbuild/protocompile":   "kinds/internal/gen",
	"github.com/google/cel-go":           "kinds/cel",
	"k8s.io/":                            "none",
	"github.com/tidwall/buntdb":          "persist",
	"github.com/spf13/cobra":             "cmd",
	"sigs.k8s.io/structured-merge-diff/": "kinds",
}

type goPackage struct {
	ImportPath, Dir  string
	Imports, GoFiles []string
}

func TestImportDirections(t *testing.T) {
	packages := listPackages(t)
	if len(packages) < len(layers) {
		t.Fatalf("only %d packages", len(packages))
	}
	for _, p := range packages {
		path := strings.TrimPrefix(p.ImportPath, module)
		layer := layerOf(path)
		for _, imported := range p.Imports {
			if inner, ours := strings.CutPrefix(imported, module); ours {
				if to := layerOf(inner); to != layer && to != "internal" && !slices.Contains(layers[layer], to) {
					t.Errorf("%s imports %s: %s may import %v", path, inner, layer, layers[layer])
				}
				continue
			}
			for prefix, owner := range onlyImporter {
				if strings.HasPrefix(imported, prefix) && path != owner && !strings.HasPrefix(path, owner+"/") {
					t.Errorf("%s imports %s: only %s may", path, imported, owner)
				}
			}
		}
	}
}

// prefixedText matches an error or log message that starts with a word and a colon.
var prefixedText = regexp.MustCompile(`(?:errors\.New|fmt\.Errorf|[lL]og(?:ger)?\.(?:Debug|Info|Warn|Error))\("([a-z]+): `)

// TestTextsWithoutPackages checks that errors and log messages do not mention Go packages, which
// mean nothing to users.
func TestTextsWithoutPackages(t *testing.T) {
	for _, p := range listPackages(t) {
		path := strings.TrimPrefix(p.ImportPath, module)
		for _, file := range p.GoFiles {
			text := client.ReadFile(t, filepath.Join(p.Dir, file))
			for _, found := range prefixedText.FindAllStringSubmatch(string(text), -1) {
				isProgram := found[1] == "etcd" || found[1] == "troupe"
				if !isProgram && slices.Contains(strings.Split(path, "/"), found[1]) {
					t.Errorf("%s/%s: %s", path, file, found[0])
				}
			}
		}
	}
}

func layerOf(path string) string {
	if strings.HasPrefix(path, "actors/controllers") {
		return "actors/controllers"
	}
	layer, _, _ := strings.Cut(path, "/")
	return layer
}

func listPackages(t *testing.T) (packages []goPackage) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
