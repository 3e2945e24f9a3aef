package api

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
)

// Markers contains the "+name=value" comments of the types and fields in a package, such as list
// types and list map keys. Reflection cannot find them.
type Markers map[string]map[string][]string // "Type" or "Type.Field" → marker → values

var sources = []string{"types.go", "types_jsonschema.go"}

func readMarkers(dir string) (Markers, error) {
	found := Markers{}
	for _, name := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("drift: %w", err)
		}
		found.read(file)
	}
	return found, nil
}

func (m Markers) read(file *ast.File) {
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range decl.Specs {
			if t, ok := spec.(*ast.TypeSpec); ok {
				m.add(t, decl.Doc)
			}
		}
	}
}

func (m Markers) add(t *ast.TypeSpec, doc *ast.CommentGroup) {
	m[t.Name.Name] = markersOf(doc)
	s, ok := t.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range s.Fields.List {
		for _, name := range f.Names {
			m[t.Name.Name+"."+name.Name] = markersOf(f.Doc)
		}
	}
}

// markersOf returns the values of each marker. Some markers, such as listMapKey, can be repeated.
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

// A goField describes a field of a Go type, to compare with the field that package schema declares.
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

// fieldsOfDrift returns the JSON fields of a struct in order, with embedded structs expanded. A
// wire number is a path, because an embedded struct is a separate Protobuf message. A struct counts
// as omitted only with omitzero, because encoding/json ignores omitempty for structs.
func fieldsOfDrift(t reflect.Type, wire []int32) ([]goField, error) {
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
			inlined, err := fieldsOfDrift(f.Type, path)
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
