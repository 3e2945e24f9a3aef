package api

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

var (
	diagram     = regexp.MustCompile("(?s)```mermaid\n(.*?)```")
	participant = regexp.MustCompile(`(?m)^\s*(?:participant|actor) (\w+) as ([\w/]+)$`)
	// layerMessage matches a message such as "S->>A: Store.Mutate(m)". It captures the receiver and
	// the function.
	layerMessage = regexp.MustCompile(`(?m)^\s*\w+-{1,2}>>[+-]?(\w+): ([A-Za-z][\w.]*)\(`)
)

// TestDiagramsNameExistingFunctions compares the sequence diagrams of docs/architecture.md with the
// code. A message with parentheses must name a function or method of the receiving package.
func TestDiagramsNameExistingFunctions(t *testing.T) {
	text := client.ReadFile(t, "../../docs/architecture.md")
	const wanted = 5 // PUT, watch, apply, definition, GET
	diagrams := diagram.FindAllStringSubmatch(string(text), -1)
	if len(diagrams) < wanted {
		t.Fatalf("%d diagrams", len(diagrams))
	}
	declared := map[string]map[string]bool{}
	for i, d := range diagrams {
		packages := map[string]string{}
		for _, p := range participant.FindAllStringSubmatch(d[1], -1) {
			packages[p[1]] = p[2]
		}
		messages := layerMessage.FindAllStringSubmatch(d[1], -1)
		if len(messages) < 5 {
			t.Errorf("diagram %d names only %d functions", i, len(messages))
		}
		for _, m := range messages {
			dir := packages[m[1]]
			if dir == "" {
				t.Errorf("diagram %d: %s is no package", i, m[1])
				continue
			}
			if declared[dir] == nil {
				declared[dir] = functions(t, filepath.Join("../..", dir))
			}
			if !declared[dir][m[2]] {
				t.Errorf("diagram %d: package %s has no %s", i, dir, m[2])
			}
		}
	}
}

// functions returns the functions and methods (as Type.Method) declared in a directory, except in
// tests.
func functions(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no Go files (%v)", dir, err)
	}
	names := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				names[receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				addInterfaceMethods(names, d)
			}
		}
	}
	return names
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	e := f.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.Ident:
			return x.Name + "."
		default:
			return ""
		}
	}
}

func addInterfaceMethods(names map[string]bool, d *ast.GenDecl) {
	for _, s := range d.Specs {
		spec, ok := s.(*ast.TypeSpec)
		if !ok {
			continue
		}
		contract, ok := spec.Type.(*ast.InterfaceType)
		if !ok {
			continue
		}
		for _, m := range contract.Methods.List {
			for _, name := range m.Names {
				names[spec.Name.Name+"."+name.Name] = true
			}
		}
	}
}
