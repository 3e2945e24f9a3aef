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
)

func main() {
	check := flag.Bool("check", false, "write nothing, fail if a generated file is not current")
	flag.Parse()
	if err := run(context.Background(), *check); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run does not rewrite current files: make depends on their times.
func run(ctx context.Context, check bool) error {
	dir, err := protoDir(ctx)
	if err != nil {
		return err
	}
	outputs, err := Generate(ctx, dir)
	if err != nil {
		return err
	}
	for name, content := range outputs {
		path := filepath.Join(dir, name)
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

func protoDir(ctx context.Context) (string, error) {
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Join(filepath.Dir(strings.TrimSpace(string(mod))), "kinds", "api"), nil
}
