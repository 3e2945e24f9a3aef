package api

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestEnums checks that the documents list the constants of each field with an enumerated Go type,
// which `kubectl explain` shows.
func TestEnums(t *testing.T) {
	t.Parallel()
	s := serveOpenAPI(t, "kubernetes")
	type property struct {
		Enum                        []string
		Items, AdditionalProperties *property
	}
	var doc struct {
		Definitions map[string]struct{ Properties map[string]property }
	}
	client.Decode(t, document(t, s, "/openapi/v2", "application/json"), &doc)
	constants, compared := map[string]map[string][]string{}, 0
	for _, typ := range publicTypes() {
		model, ok := doc.Definitions[modelName(typ)]
		if !ok {
			continue
		}
		for i := range typ.NumField() {
			field, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			of := valueType(typ.Field(i).Type)
			if of.Kind() != reflect.String || of.PkgPath() == "" {
				continue
			}
			if constants[of.PkgPath()] == nil {
				constants[of.PkgPath()] = enumConstants(t, of.PkgPath())
			}
			want := constants[of.PkgPath()][of.Name()]
			if want == nil {
				continue
			}
			p := model.Properties[field]
			for _, inner := range []*property{p.Items, p.AdditionalProperties} {
				if inner != nil {
					p = *inner
				}
			}
			name := strings.TrimPrefix(modelName(typ), "io.k8s.api.") + "." + field
			if !slices.Equal(p.Enum, want) {
				t.Errorf("%s has the choices %q, the public type %q", name, p.Enum, want)
			}
			compared++
		}
	}
	if compared < 80 {
		t.Errorf("only %d fields were compared", compared)
	}
}

func valueType(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

// enumConstants returns the sorted constants of each enumeration type in a package, keyed by type.
func enumConstants(t *testing.T, pkg string) map[string][]string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*types.go"))
	if err != nil {
		t.Fatal(err)
	}
	marked, all := map[string]bool{}, map[string][]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			declaration, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range declaration.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					marked[spec.Name.Name] = isMarkedEnum(declaration.Doc) || isMarkedEnum(spec.Doc)
				case *ast.ValueSpec:
					addConstant(all, spec)
				}
			}
		}
	}
	for name := range all {
		if !marked[name] {
			delete(all, name)
			continue
		}
		slices.Sort(all[name])
		all[name] = slices.Compact(all[name])
	}
	return all
}

func isMarkedEnum(comment *ast.CommentGroup) bool {
	return comment != nil && slices.ContainsFunc(comment.List, func(c *ast.Comment) bool {
		return strings.TrimSpace(strings.TrimPrefix(c.Text, "//")) == "+enum"
	})
}

func addConstant(all map[string][]string, spec *ast.ValueSpec) {
	typ, ok := spec.Type.(*ast.Ident)
	if !ok || len(spec.Values) != 1 {
		return
	}
	if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
		if value, err := strconv.Unquote(literal.Value); err == nil {
			all[typ.Name] = append(all[typ.Name], value)
		}
	}
}
