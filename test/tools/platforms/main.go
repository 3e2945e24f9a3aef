// Command platforms checks that both modules and their tests compile on the supported platforms. It
// type-checks the sources, which is much faster than building. It skips function bodies of other
// modules, and of packages that do not depend on the platform.
//
//	go run ./tools/platforms [goos/goarch ...]
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// others are the supported platforms except linux/amd64, which normal builds cover. No file of this
// project is architecture-specific, so one architecture per operating system is enough.
var others = []string{"linux/arm64", "darwin/arm64", "windows/amd64"}

func main() {
	targets := os.Args[1:]
	if len(targets) == 0 {
		targets = others
	}
	failed := false
	c := &checker{files: token.NewFileSet(), parsed: map[string]*ast.File{}}
	for _, module := range []string{"..", "."} {
		for _, target := range targets {
			faults, err := c.check(module, target)
			if err != nil {
				faults = append(faults, err.Error())
			}
			for _, fault := range faults {
				fmt.Printf("%s: %s\n", target, fault)
				failed = true
			}
		}
	}
	if failed {
		os.Exit(1)
	}
}

type listed struct {
	Dir, ImportPath, Name, ForTest   string
	GoFiles, IgnoredGoFiles, Imports []string
	ImportMap                        map[string]string
	Standard                         bool
	Module                           *struct{ Main bool }
	Error                            *struct{ Err string }

	varies bool // function bodies may not compile on every platform
}

func (p *listed) own() bool { return p.Module != nil && p.Module.Main }

// findVarying marks the packages of this module whose function bodies must be checked on each
// platform: packages with files that the platform excludes, their importers, and importers of
// syscall and golang.org/x/sys.
func findVarying(packages []*listed) {
	constrained := map[string]bool{"syscall": true}
	for _, p := range packages {
		if p.own() && len(p.IgnoredGoFiles) > 0 {
			constrained[p.path()] = true
		}
	}
	for _, p := range packages {
		p.varies = p.own() && (constrained[p.path()] || slices.ContainsFunc(p.Imports, func(imported string) bool {
			path, _, _ := strings.Cut(imported, " ")
			return constrained[path] || strings.HasPrefix(path, "golang.org/x/sys/")
		}))
	}
}

func (p *listed) path() string {
	path, _, _ := strings.Cut(p.ImportPath, " ")
	return path
}

// A checker type-checks the modules. It caches parsed files, because most are the same on all
// platforms.
type checker struct {
	files  *token.FileSet
	mu     sync.Mutex
	parsed map[string]*ast.File
}

func (c *checker) check(module, target string) ([]string, error) {
	goos, goarch, ok := strings.Cut(target, "/")
	if !ok {
		return nil, fmt.Errorf("%q is not of the form goos/goarch", target)
	}
	packages, err := list(module, goos, goarch)
	if err != nil {
		return nil, err
	}
	findVarying(packages)
	if err := c.parse(packages); err != nil {
		return nil, err
	}
	run := &run{checker: c, sizes: types.SizesFor("gc", goarch), goos: goos, goarch: goarch, done: map[string]*types.Package{"unsafe": types.Unsafe}}
	for _, p := range packages { // in dependency order
		run.check(p)
	}
	return run.faults, nil
}

func list(module, goos, goarch string) ([]*listed, error) {
	cmd := exec.Command("go", "list", "-e", "-deps", "-test", "-json=Dir,ImportPath,Name,ForTest,GoFiles,IgnoredGoFiles,Imports,ImportMap,Standard,Module,Error", "./...")
	cmd.Dir, cmd.Stderr = module, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []*listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &listed{}
		err := d.Decode(p)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		// Skip go test's generated main package, which is the same on all platforms.
		if p.ImportPath != "unsafe" && !strings.HasSuffix(p.ImportPath, ".test") {
			all = append(all, p)
		}
	}
}

func (c *checker) parse(packages []*listed) error {
	var wg sync.WaitGroup
	var failures []error
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, p := range packages {
		for _, path := range p.paths() {
			c.mu.Lock()
			known := c.parsed[path] != nil
			if !known {
				c.parsed[path] = &ast.File{}
			}
			c.mu.Unlock()
			if known {
				continue
			}
			wg.Add(1)
			slots <- struct{}{}
			go func() {
				defer func() { <-slots; wg.Done() }()
				file, err := parser.ParseFile(c.files, path, nil, parser.SkipObjectResolution)
				if err == nil && !p.own() {
					dropBodies(file)
				}
				c.mu.Lock()
				defer c.mu.Unlock()
				if err != nil {
					failures = append(failures, err)
				}
				c.parsed[path] = file
			}()
		}
	}
	wg.Wait()
	return errors.Join(failures...)
}

func (p *listed) paths() []string {
	paths := make([]string, len(p.GoFiles))
	for i, name := range p.GoFiles {
		if paths[i] = name; !filepath.IsAbs(name) {
			paths[i] = filepath.Join(p.Dir, name)
		}
	}
	return paths
}

// dropBodies frees the memory of unchecked function bodies.
func dropBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			f.Body = &ast.BlockStmt{Lbrace: f.Body.Lbrace, Rbrace: f.Body.Rbrace}
		}
	}
}

type run struct {
	*checker
	sizes        types.Sizes
	goos, goarch string
	done         map[string]*types.Package
	faults       []string
}

func (r *run) check(p *listed) {
	if p.Error != nil {
		r.faults = append(r.faults, fmt.Sprintf("%s: %s", p.ImportPath, p.Error.Err))
	}
	var files []*ast.File
	for _, path := range p.paths() {
		files = append(files, r.parsed[path])
	}
	config := types.Config{
		Importer: importer(func(path string) (*types.Package, error) {
			if to, ok := p.ImportMap[path]; ok {
				path = to
			}
			if imported := r.done[path]; imported != nil {
				return imported, nil
			}
			return nil, fmt.Errorf("%s is not there", path)
		}),
		IgnoreFuncBodies: !p.varies,
		FakeImportC:      true,
		Sizes:            r.sizes,
		Error: func(err error) {
			if p.own() && !slices.Contains(r.faults, err.Error()) {
				r.faults = append(r.faults, err.Error())
			}
		},
	}
	r.done[p.ImportPath], _ = config.Check(p.path(), r.files, files, nil) // Error collects the faults
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }
