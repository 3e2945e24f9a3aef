package persist

import (
	"bytes"
	"errors"
	"maps"
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

// TestNewerFormat checks that a directory or backup of a newer release is refused, that the error
// suggests the newer release, and that the directory is unchanged.
func TestNewerFormat(t *testing.T) {
	t.Parallel()
	check := func(what string, err error) {
		t.Helper()
		if err == nil || errors.Is(err, ErrDataLoss) || !strings.Contains(err.Error(), what+" has format 3, but this release reads formats up to ") || !strings.Contains(err.Error(), "use the newer release") {
			t.Errorf("%s: %v", what, err)
		}
	}
	fs := vfs.NewMem()
	j, _ := mustReopen(t, testOptions(fs))
	mustAppend(t, j, put("a", "1"))
	mustClose(t, j)
	must.Succeed(t, writeChecksummed(fs, filepath.Join(testDir, formatFile), format{3}))
	before := content(fs)
	_, _, err := reopen(testOptions(fs))
	check(testDir, err)
	if !maps.Equal(content(fs), before) {
		t.Error("the refused directory changed")
	}

	var b bytes.Buffer
	w := chunkWriter{w: &b}
	must.Succeed(t, w.json(chunkHead, backupHead{Magic: backupMagic, Format: 3}))
	must.Succeed(t, w.json(chunkEnd, backupEnd{0, w.chunks, w.sum}))
	_, err = CheckBackup(&b)
	check("the backup", err)
}

func content(fs *vfs.Mem) map[string]string {
	files := map[string]string{}
	for _, path := range fs.Files() {
		files[path] = string(fs.Bytes(path))
	}
	return files
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
