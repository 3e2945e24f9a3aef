package report

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSectionMarkersMustExist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.md")
	for _, text := range []string{"", "<!-- bench: a -->\n", "<!-- bench: b -->\n<!-- end -->"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := ReplaceSection(path, "a", "new"); err == nil {
			t.Errorf("no error for %q", text)
		}
	}
}
