package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowed lists the SPDX identifiers of the licenses that dependencies may have.
var allowed = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}

var (
	licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)`)
	noticeFile  = regexp.MustCompile(`(?i)^(notice|patents)`)
)

// A component is a dependency that is part of the program.
type component struct {
	name, version string
	licenses      []string // SPDX identifiers
	texts         []string // texts of licenses and notices
}

// notices contains the licenses of all components.
type notices struct {
	golang  component   // the runtime and the standard library
	modules []component // versions come from the build info
	console []component // npm packages in the console
}

// notices reads the licenses of all dependencies on all platforms of the release.
func (r *release) notices(ctx context.Context) (*notices, error) {
	n := &notices{}
	folders := map[string][]string{} // directories by module
	for _, p := range r.platforms {
		packages, err := r.list(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, l := range packages {
			if l.Module == nil || l.Module.Main {
				continue
			}
			for dir := l.Dir; strings.HasPrefix(dir, l.Module.Dir); dir = filepath.Dir(dir) {
				folders[l.Module.Path] = append(folders[l.Module.Path], dir)
			}
		}
	}
	var faults []error
	for path, dirs := range folders {
		slices.Sort(dirs)
		c, err := read(path, slices.Compact(dirs))
		faults = append(faults, err)
		n.modules = append(n.modules, c)
	}
	goroot, err := r.goEnv(ctx, "GOROOT")
	if err != nil {
		return nil, err
	}
	n.golang, err = read("Go", []string{goroot})
	faults = append(faults, err)
	bundled, err := os.ReadFile(filepath.Join(r.source, "http/internal/console/dist/licenses.txt"))
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(string(bundled), "\n---\n\n") {
		title, text, _ := strings.Cut(entry, "\n")
		var c component
		c.name, c.version, _ = strings.Cut(title, " ")
		c.texts = []string{strings.TrimSpace(text)}
		faults = append(faults, c.identify(c.texts[0]))
		n.console = append(n.console, c)
	}
	return n, errors.Join(faults...)
}

type listed struct {
	Dir    string
	Module *struct {
		Path, Dir string
		Main      bool
	}
}

func (r *release) list(ctx context.Context, p platform) (all []listed, err error) {
	c := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Dir,Module", "./cmd/troupe")
	c.Dir, c.Env = r.source, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS="+p.os, "GOARCH="+p.arch)
	out, err := output(c)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
}

func (r *release) goEnv(ctx context.Context, name string) (string, error) {
	c := exec.CommandContext(ctx, "go", "env", name)
	c.Dir = r.source
	out, err := output(c)
	return strings.TrimSpace(string(out)), err
}

// read returns a component with the license and notice files in its directories.
func read(name string, dirs []string) (component, error) {
	c := component{name: name}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return c, err
		}
		for _, e := range entries {
			isLicense := licenseFile.MatchString(e.Name())
			if e.IsDir() || strings.HasSuffix(e.Name(), ".go") || !isLicense && !noticeFile.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return c, err
			}
			if isLicense {
				if err := c.identify(string(text)); err != nil {
					return c, fmt.Errorf("%s: %w", filepath.Join(dir, e.Name()), err)
				}
			}
			c.texts = append(c.texts, strings.TrimSpace(string(text)))
		}
	}
	if len(c.licenses) == 0 {
		return c, fmt.Errorf("%s has no license file; replace it", name)
	}
	return c, nil
}

// identify adds the licenses found in text. It returns an error if one is not allowed.
func (c *component) identify(text string) error {
	found := licensecheck.Scan([]byte(text))
	if len(found.Match) == 0 {
		return fmt.Errorf("%s: the license is unknown; replace the dependency", c.name)
	}
	for _, m := range found.Match {
		if !slices.Contains(allowed, m.ID) {
			return fmt.Errorf("%s: the license %s is not allowed; replace the dependency, or add it to allowed after a review", c.name, m.ID)
		}
		if !slices.Contains(c.licenses, m.ID) {
			c.licenses = append(c.licenses, m.ID)
		}
	}
	return nil
}

// of returns the components of a program, with the versions in its build info.
func (n *notices) of(program string) (golang component, modules []component, info *debug.BuildInfo, err error) {
	if info, err = buildinfo.ReadFile(program); err != nil {
		return golang, nil, nil, err
	}
	golang = n.golang
	golang.version = strings.TrimPrefix(info.GoVersion, "go")
	for _, d := range info.Deps {
		i := slices.IndexFunc(n.modules, func(c component) bool { return c.name == d.Path })
		if i < 0 {
			return golang, nil, nil, fmt.Errorf("%s: no package of %s is in go list", program, d.Path)
		}
		c := n.modules[i]
		c.version = d.Version
		modules = append(modules, c)
	}
	return golang, modules, info, nil
}

func (n *notices) text(program string) ([]byte, error) {
	golang, modules, _, err := n.of(program)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("Troupe contains the following software, under the terms below.\n")
	for _, c := range slices.Concat([]component{golang}, modules, n.console) {
		fmt.Fprintf(&b, "\n%s\n%s %s (%s)\n", strings.Repeat("=", 80), c.name, c.version, strings.Join(c.licenses, ", "))
		for _, text := range c.texts {
			fmt.Fprintf(&b, "\n%s\n", text)
		}
	}
	return b.Bytes(), nil
}
