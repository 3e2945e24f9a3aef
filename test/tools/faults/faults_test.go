package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFaultsHaveTheirPlace checks that each fault still applies to the code, and that
// docs/reliability.md contains their number.
func TestFaultsHaveTheirPlace(t *testing.T) {
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile(filepath.Join(root, "docs/reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	if count := fmt.Sprintf("plants %d faults", len(faults())); !strings.Contains(string(document), count) {
		t.Errorf("docs/reliability.md does not say that it %s", count)
	}
	names := map[string]bool{}
	for _, f := range faults() {
		if names[f.name] || f.name == "" || f.tests == "" || f.old == f.new {
			t.Errorf("%q is planted twice, or says too little", f.name)
		}
		names[f.name] = true
		if _, err := f.mutated(root); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
	}
}
