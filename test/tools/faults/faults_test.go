package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFaultsHaveTheirPlace checks that each fault still applies to the code and that
// docs/reliability.md lists it.
func TestFaultsHaveTheirPlace(t *testing.T) {
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(root, "docs/reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range faults() {
		if !strings.Contains(string(list), "\n| "+f.name+" | ") {
			t.Errorf("docs/reliability.md does not list %q", f.name)
		}
		if names[f.name] || f.name == "" || f.tests == "" || f.old == f.new {
			t.Errorf("%q is planted twice, or says too little", f.name)
		}
		names[f.name] = true
		if _, err := f.mutated(root); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
	}
}
