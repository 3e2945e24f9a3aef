package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

func main() {
	check := flag.Bool("check", false, "write nothing, fail if a generated file is not current")
	flag.Parse()
	if err := run(context.Background(), *check); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run writes only files that have changed, because make depends on modification times.
func run(ctx context.Context, check bool) error {
	root, err := moduleDir(ctx)
	if err != nil {
		return err
	}
	dir := filepath.Join(root, "kinds", "api")
	outputs, err := Generate(ctx, dir)
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	for name, content := range outputs {
		files[filepath.Join(dir, name)] = content
	}
	if err := addTables(root, files); err != nil {
		return err
	}
	for path, content := range files {
		old, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if bytes.Equal(old, content) {
			continue
		}
		if check {
			return fmt.Errorf("%s is not current: run make generate", path)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// tables lists the YAML tables that are embedded as JSON. Parsing YAML would take a tenth of the
// startup time.
var tables = []string{"kinds/api/flowcontrol/objects", "policy/authz/rbac/defaults", "policy/admission/plugins", "cmd/troupe/command/commands", "cmd/troupe/command/symptoms", "cmd/troupe/internal/client/commands"}

func addTables(root string, files map[string][]byte) error {
	for _, table := range tables {
		path := filepath.Join(root, filepath.FromSlash(table))
		text, err := os.ReadFile(path + ".yaml")
		if err != nil {
			return err
		}
		document, err := yaml.YAMLToJSONStrict(text)
		if err != nil {
			return fmt.Errorf("%s.yaml: %w", table, err)
		}
		files[path+".json"] = append(document, '\n')
	}
	return nil
}

func moduleDir(ctx context.Context) (string, error) {
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(mod))), nil
}
