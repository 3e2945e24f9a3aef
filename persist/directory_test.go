package persist

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

func TestPreviousFormat(t *testing.T) {
	for _, end := range []string{"closed", "killed"} {
		fs := vfs.NewMem()
		root := filepath.Join("testdata", "format1", end)
		load(t, fs, root)
		for range 2 {
			j, m := mustReopen(t, testOptions(fs))
			if v, _ := j.Label("naming"); v != "platform" || m.base != 3 || len(m.state) < 4 || m.state["f"].Revision != 5 || m.state["a"].Key != "" {
				t.Fatalf("%s: base %d\n%s", end, m.base, m)
			}
			mustAppend(t, j, put("new", "1"))
			mustClose(t, j)
		}
		var f format
		if err := readChecksummed(fs, testDir+"/format", &f); err != nil || f.Format != directoryFormat {
			t.Errorf("%s: format %d %v", end, f.Format, err)
		}
		for _, name := range []string{lockFile, labelsFile} {
			fs := vfs.NewMem()
			load(t, fs, root)
			must.Succeed(t, fs.Remove(filepath.Join(testDir, name)))
			if _, _, err := reopen(testOptions(fs)); !errors.Is(err, ErrDataLoss) {
				t.Errorf("%s without %s: %v", end, name, err)
			}
		}
	}
}

func load(t *testing.T, fs *vfs.Mem, root string) {
	t.Helper()
	must.Succeed(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(testDir, strings.TrimPrefix(path, root))
		if d.IsDir() {
			return fs.MkdirAll(to)
		}
		data, err := os.ReadFile(path)
		fs.SetBytes(to, data)
		return err
	}))
}

// TestPreviousFormatOnFullDisk checks that a directory of format 1 is readable on a full disk. The
// first write that finds space must upgrade it.
func TestPreviousFormatOnFullDisk(t *testing.T) {
	fs := vfs.NewMem()
	load(t, fs, filepath.Join("testdata", "format1", "closed"))
	fs.SetBudget(fs.Used())
	j, m := mustReopen(t, testOptions(fs))
	if m.state["f"].Revision != 5 {
		t.Fatalf("read\n%s", m)
	}
	if _, err := j.Append([]Write{put("new", "1")}); !errors.Is(err, ErrNoSpace) {
		t.Fatalf("on a full disk: %v", err)
	}
	fs.SetBudget(-1)
	mustAppend(t, j, put("new", "1"))
	want := m.String()
	j, m = mustReopen(t, testOptions(fs.Crash(nil)))
	if m.String() != want {
		t.Fatalf("recovered\n%s want\n%s", m, want)
	}
	mustClose(t, j)
}
