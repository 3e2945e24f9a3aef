package openapi

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/schema"
)

// refusedWithout are the fields without which the server refuses an object, whatever the
// public types call them: "core.v1.SecretVolumeSource.secretName".
func refusedWithout(c *catalog.Catalog) map[string]bool {
	refused, seen := map[string]bool{}, map[*schema.Message]bool{}
	var visit func(m *schema.Message)
	visit = func(m *schema.Message) {
		if m == nil || seen[m] {
			return
		}
		seen[m] = true
		for _, f := range m.Fields {
			if f.Required {
				refused[m.Name+"."+f.Name] = true
			}
			visit(f.Message)
		}
	}
	for _, k := range c.Kinds() {
		visit(k.Message)
	}
	return refused
}

// TestRequired: a client that checks for itself demands no field that the public types
// call optional.
func TestRequired(t *testing.T) {
	s := serve(t, "kubernetes")
	var doc struct {
		Definitions map[string]struct{ Required []string }
	}
	if err := json.Unmarshal(document(t, s, "/openapi/v2", "application/json"), &doc); err != nil {
		t.Fatal(err)
	}
	refused := refusedWithout(kinds(t, "kubernetes"))
	sources, compared := map[string]map[string]bool{}, 0
	for _, typ := range publicTypes() {
		name := modelName(typ)
		required := doc.Definitions[name].Required
		if len(required) == 0 {
			continue
		}
		if sources[typ.PkgPath()] == nil {
			sources[typ.PkgPath()] = optionalFields(t, typ.PkgPath())
		}
		for i := range typ.NumField() {
			f := typ.Field(i)
			field, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !slices.Contains(required, field) {
				continue
			}
			compared++
			optional := strings.Contains(options, "omitempty") || sources[typ.PkgPath()][typ.Name()+"."+f.Name]
			if optional && !refused[strings.TrimPrefix(name, "io.k8s.api.")+"."+field] {
				t.Errorf("%s.%s is required, and optional in the public type", name, field)
			}
		}
	}
	if compared < 250 {
		t.Errorf("only %d required fields were compared", compared)
	}
}

// optionalFields are those that a package's source marks as optional: "Type.Field".
func optionalFields(t *testing.T, pkg string) map[string]bool {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*types.go"))
	if err != nil {
		t.Fatal(err)
	}
	optional := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				markOptional(optional, spec.Name.Name, s)
			}
			return false
		})
	}
	return optional
}

func markOptional(optional map[string]bool, typ string, s *ast.StructType) {
	for _, f := range s.Fields.List {
		if f.Doc == nil {
			continue
		}
		for _, line := range f.Doc.List {
			if strings.TrimSpace(strings.TrimPrefix(line.Text, "//")) != "+optional" {
				continue
			}
			for _, name := range f.Names {
				optional[typ+"."+name.Name] = true
			}
		}
	}
}

// modelName is the name that a public type gives itself; "" if it gives none.
func modelName(t reflect.Type) string {
	if named, ok := reflect.Zero(t).Interface().(interface{ OpenAPIModelName() string }); ok {
		return named.OpenAPIModelName()
	}
	return ""
}
