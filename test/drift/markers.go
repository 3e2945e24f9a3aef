package drift

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
)

// Markers hold the "+name=value" comments of the fields of one package's types.
type Markers map[string]map[string][]string // "Type.Field" → marker → values

// readMarkers parses types.go in the folder of a package's source.
func readMarkers(dir string) (Markers, error) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, "types.go"), nil, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("drift: %w", err)
	}
	found := Markers{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				for _, name := range f.Names {
					found[spec.Name.Name+"."+name.Name] = markersOf(f.Doc)
				}
			}
		}
		return false
	})
	return found, nil
}

func markersOf(doc *ast.CommentGroup) map[string][]string {
	found := map[string][]string{}
	if doc == nil {
		return found
	}
	for _, line := range doc.List {
		text := strings.TrimSpace(strings.TrimPrefix(line.Text, "//"))
		if marker, ok := strings.CutPrefix(text, "+"); ok {
			name, value, _ := strings.Cut(marker, "=")
			found[name] = append(found[name], value)
		}
	}
	return found
}

// A goField is a field of a public type as JSON sees it.
type goField struct {
	name    string
	wire    []int32
	typ     reflect.Type // without the pointer
	pointer bool
	always  bool
	tag     reflect.StructTag
	path    string // "Type.Field"
	pkg     string
}

// fieldsOf lists the JSON fields of a struct in order, those of inlined ones in place.
func fieldsOf(t reflect.Type, wire []int32) ([]goField, error) {
	var list []goField
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name == "TypeMeta" {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		var number int32
		if tag := strings.Split(f.Tag.Get("protobuf"), ","); len(tag) > 1 {
			if _, err := fmt.Sscan(tag[1], &number); err != nil {
				return nil, fmt.Errorf("drift: %s.%s: %w", t, f.Name, err)
			}
		}
		path := append(append([]int32{}, wire...), number)
		if name == "" {
			inlined, err := fieldsOf(f.Type, path)
			if err != nil {
				return nil, err
			}
			list = append(list, inlined...)
			continue
		}
		g := goField{name: name, wire: path, typ: f.Type, tag: f.Tag, path: t.Name() + "." + f.Name, pkg: t.PkgPath()}
		if f.Type.Kind() == reflect.Pointer {
			g.pointer, g.typ = true, f.Type.Elem()
		}
		omits := strings.Contains(options, "omitempty") && (g.pointer || g.typ.Kind() != reflect.Struct)
		g.always = !omits && !strings.Contains(options, "omitzero")
		list = append(list, g)
	}
	return list, nil
}
