package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

const folder = "../../api"

func TestFilesAreCurrent(t *testing.T) {
	outputs, err := Generate(context.Background(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(outputs) != 2 {
		t.Errorf("%d files, want 2", len(outputs))
	}
	for name, want := range outputs {
		got, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not current: run make generate", name)
		}
	}
}

func TestErrorNamesPosition(t *testing.T) {
	dir := t.TempDir()
	options, err := os.ReadFile(filepath.Join(folder, optionsFile))
	if err != nil {
		t.Fatal(err)
	}
	broken := []byte("syntax = \"proto3\";\npackage p;\nmessage M {\n  Nope f = 1;\n}\n")
	for name, content := range map[string][]byte{optionsFile: options, "broken.proto": broken} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err = Generate(context.Background(), dir)
	if err == nil || !bytes.Contains([]byte(err.Error()), []byte("broken.proto:4:3")) {
		t.Errorf("got %v, want a fault at broken.proto:4:3", err)
	}
}
