package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// A source finds and parses the Go packages of a release in the module cache.
type source struct {
	version  string            // such as 1.37.2
	modules  map[string]string // directories by module path
	packages map[string]*goPackage
}

// A goPackage contains the parsed files of a package, without tests.
type goPackage struct {
	files     []*ast.File
	constants map[string]constant // constants and variables
}

type constant struct {
	file  *ast.File
	value ast.Expr
}

// libraries lists the modules below k8s.io that define kube-apiserver's flags, metrics and plugins.
var libraries = []string{"apiextensions-apiserver", "apiserver", "component-base", "kube-aggregator", "pod-security-admission"}

const kubernetes = "k8s.io/kubernetes"

func newSource(version string) *source {
	return &source{version: version, modules: map[string]string{}, packages: map[string]*goPackage{}}
}

// download downloads the modules of a release, such as 1.37.2, to the module cache.
func download(version string) (*source, error) {
	args := []string{"mod", "download", "-json", kubernetes + "@v" + version}
	_, minor, _ := strings.Cut(version, ".")
	for _, name := range libraries {
		args = append(args, "k8s.io/"+name+"@v0."+minor)
	}
	command := exec.Command("go", args...)
	command.Dir, command.Stderr = os.TempDir(), os.Stderr // avoids changes to go.mod
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go %q: %w\n%s", args, err, out)
	}
	s := newSource(version)
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var m struct{ Path, Dir string }
		if err := d.Decode(&m); err != nil {
			return nil, err
		}
		s.modules[m.Path] = m.Dir
	}
	return s, nil
}

func (s *source) read(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(s.modules[kubernetes], name))
}

// dir returns the directory of a package, or "" if the package is in another module.
func (s *source) dir(importPath string) string {
	for module := importPath; module != "."; module = path.Dir(module) {
		if root := s.modules[module]; root != "" {
			return filepath.Join(root, strings.TrimPrefix(importPath, module))
		}
	}
	return ""
}

// load parses a package. If the package is in another module, the result has no files.
func (s *source) load(importPath string) (*goPackage, error) {
	if p := s.packages[importPath]; p != nil {
		return p, nil
	}
	p := &goPackage{constants: map[string]constant{}}
	s.packages[importPath] = p
	dir := s.dir(importPath)
	if dir == "" {
		return p, nil
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
		p.declare(f)
	}
	return p, nil
}

func (p *goPackage) declare(f *ast.File) {
	for _, d := range f.Decls {
		d, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && len(v.Names) == len(v.Values) {
				for i, name := range v.Names {
					p.constants[name.Name] = constant{f, v.Values[i]}
				}
			}
		}
	}
}

// loadBelow parses the package and all packages below it.
func (s *source) loadBelow(importPath string) (all []*goPackage, err error) {
	root := s.dir(importPath)
	err = filepath.WalkDir(root, func(dir string, entry os.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir():
			return err
		case entry.Name() == "testdata":
			return filepath.SkipDir
		}
		below, err := filepath.Rel(root, dir)
		if err != nil {
			return err
		}
		p, err := s.load(path.Join(importPath, filepath.ToSlash(below)))
		all = append(all, p)
		return err
	})
	return all, err
}

// text evaluates a constant string expression in a file of p. It returns "" if e is not constant.
func (s *source) text(p *goPackage, f *ast.File, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		value, _ := strconv.Unquote(e.Value) // "" for numbers
		return value
	case *ast.BinaryExpr:
		return s.text(p, f, e.X) + s.text(p, f, e.Y)
	case *ast.Ident:
		if c, ok := p.constants[e.Name]; ok {
			return s.text(p, c.file, c.value)
		}
	case *ast.SelectorExpr:
		if other, err := s.load(importOf(f, e.X)); err == nil {
			if c, ok := other.constants[e.Sel.Name]; ok {
				return s.text(other, c.file, c.value)
			}
		}
	}
	return ""
}

// importOf returns the import path of the package that e refers to, or "".
func importOf(f *ast.File, e ast.Expr) string {
	name, ok := e.(*ast.Ident)
	if !ok {
		return ""
	}
	for _, spec := range f.Imports {
		target, _ := strconv.Unquote(spec.Path.Value)
		if spec.Name != nil && spec.Name.Name == name.Name || spec.Name == nil && path.Base(target) == name.Name {
			return target
		}
	}
	return ""
}
