package api

import (
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
	"github.com/troupe-api/troupe/test/client"
)

// refusedWithout returns the fields that the server requires, such as
// "core.v1.SecretVolumeSource.secretName". The Go types may mark other fields as required.
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
		visit(k.Message())
	}
	return refused
}

// TestRequired checks that the documents require every field that the Go types in k8s.io/api
// require. Other fields may be required only if the server rejects objects without them.
func TestRequired(t *testing.T) {
	t.Parallel()
	s := serveOpenAPI(t, "kubernetes")
	var doc struct {
		Definitions map[string]struct{ Required []string }
	}
	client.Decode(t, document(t, s, "/openapi/v2", "application/json"), &doc)
	refused := refusedWithout(kindsOpenAPI(t, "kubernetes"))
	marks, compared := map[string]map[string]string{}, 0
	for _, typ := range publicTypes() {
		name := modelName(typ)
		model, ok := doc.Definitions[name]
		if !ok {
			continue
		}
		if marks[typ.PkgPath()] == nil {
			marks[typ.PkgPath()] = presenceMarks(t, typ.PkgPath())
		}
		for i := range typ.NumField() {
			f := typ.Field(i)
			field, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if field == "" || field == "-" {
				continue
			}
			mark := marks[typ.PkgPath()][typ.Name()+"."+f.Name]
			public := mark == "+required" || mark == "" && !strings.Contains(options, "omitempty")
			switch required := slices.Contains(model.Required, field); {
			case required == public:
				compared++
			case public:
				t.Errorf("%s.%s is optional, and required in the public type", name, field)
			case !refused[strings.TrimPrefix(name, "io.k8s.api.")+"."+field]:
				t.Errorf("%s.%s is required, and optional in the public type", name, field)
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d fields were compared", compared)
	}
}

// presenceMarks returns the "+optional" and "+required" markers in the source of a package, keyed
// by "Type.Field".
func presenceMarks(t *testing.T, pkg string) map[string]string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*types.go"))
	if err != nil {
		t.Fatal(err)
	}
	marks := map[string]string{}
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
				addMarks(marks, spec.Name.Name, s)
			}
			return false
		})
	}
	return marks
}

func addMarks(marks map[string]string, typ string, s *ast.StructType) {
	for _, f := range s.Fields.List {
		if f.Doc == nil {
			continue
		}
		for _, line := range f.Doc.List {
			mark := strings.TrimSpace(strings.TrimPrefix(line.Text, "//"))
			if mark != "+optional" && mark != "+required" {
				continue
			}
			for _, name := range f.Names {
				marks[typ+"."+name.Name] = mark
			}
			if embedded, ok := f.Type.(*ast.SelectorExpr); ok && len(f.Names) == 0 {
				marks[typ+"."+embedded.Sel.Name] = mark
			}
		}
	}
}

func modelName(t reflect.Type) string {
	if named, ok := reflect.Zero(t).Interface().(interface{ OpenAPIModelName() string }); ok {
		return named.OpenAPIModelName()
	}
	return ""
}
