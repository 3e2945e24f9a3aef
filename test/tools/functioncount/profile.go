package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/troupe-api/troupe"

// A function is a declared function or method. pkg is relative to the module.
type function struct{ pkg, name string }

func packages(functions []function) int {
	all := map[string]bool{}
	for _, f := range functions {
		all[f.pkg] = true
	}
	return len(all)
}

// A table maps source files and the positions of function bodies to functions.
type table struct {
	files map[string]map[position]string
}

type position struct{ line, column int }

// entered returns the functions that were called at least n times, according to the counters in
// dir, sorted by package and name.
func (t *table) entered(dir string, n int) ([]function, error) {
	text := filepath.Join(dir, "profile")
	convert := exec.Command("go", "tool", "covdata", "textfmt", "-i", dir, "-o", text)
	if out, err := convert.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("covdata: %w: %s", err, out)
	}
	profile, err := os.ReadFile(text)
	if err != nil {
		return nil, err
	}
	var all []function
	for line := range strings.Lines(string(profile)) {
		file, begin, count, ok := parseBlock(line)
		if !ok || count < n {
			continue
		}
		functions, err := t.read(file)
		if err != nil {
			return nil, err
		}
		if name := functions[begin]; name != "" {
			all = append(all, function{pkg: filepath.Dir(file), name: name})
		}
	}
	slices.SortFunc(all, func(a, b function) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.name, b.name))
	})
	return all, nil
}

// parseBlock parses a line of a coverage profile: "MODULE/FILE:LINE.COLUMN,LINE.COLUMN STATEMENTS
// COUNT".
func parseBlock(line string) (file string, begin position, count int, ok bool) {
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return "", position{}, 0, false
	}
	file, at, _ := strings.Cut(fields[0], ":")
	file, ours := strings.CutPrefix(file, module+"/")
	if _, err := fmt.Sscanf(at, "%d.%d,", &begin.line, &begin.column); err != nil || !ours {
		return "", position{}, 0, false
	}
	count, err := strconv.Atoi(fields[2])
	return file, begin, count, err == nil
}

func (t *table) read(file string) (map[position]string, error) {
	if functions, ok := t.files[file]; ok {
		return functions, nil
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, filepath.Join("..", file), nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	functions := map[position]string{}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		name := f.Name.Name
		if f.Recv != nil {
			name = receiver(f.Recv.List[0].Type) + "." + name
		}
		// The first block of a body begins at its brace, or one column later if the body is empty.
		at := set.Position(f.Body.Lbrace)
		functions[position{at.Line, at.Column}] = name
		functions[position{at.Line, at.Column + 1}] = name
	}
	if t.files == nil {
		t.files = map[string]map[position]string{}
	}
	t.files[file] = functions
	return functions, nil
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
