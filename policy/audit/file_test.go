package audit_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/troupe-api/troupe/policy/audit"
)

type testClock struct{ now time.Time }

func (h *testClock) Now() time.Time { return h.now }

func (h *testClock) options(path string) audit.FileOptions {
	return audit.FileOptions{Path: path, MaxSize: 10, Now: h.Now}
}

func openFile(t *testing.T, o audit.FileOptions) *audit.File {
	t.Helper()
	if o.OnError == nil {
		o.OnError = func(err error) { t.Error(err) }
	}
	f, err := audit.OpenFile(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func write(t *testing.T, f *audit.File, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if n, err := io.WriteString(f, line); err != nil || n != len(line) {
			t.Fatalf("%q: %d, %v", line, n, err)
		}
	}
}

func closeFile(t *testing.T, f *audit.File) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func files(t *testing.T, dir string) (names []string, content map[string]string) {
	t.Helper()
	content = map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(e.Name()) == ".gz" {
			z, err := gzip.NewReader(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if text, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		names = append(names, e.Name())
		content[e.Name()] = string(text)
	}
	return names, content
}

func TestFileRotates(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	h := &testClock{start}
	f := openFile(t, h.options(filepath.Join(dir, "audit.log")))
	write(t, f, "1234\n", "1234\n") // fills the file exactly
	write(t, f, "2\n")
	write(t, f, "a line above the bound\n") // gets its own file, within the same millisecond
	h.now = h.now.Add(time.Hour)
	write(t, f, "3\n")
	closeFile(t, f)
	if _, err := f.Write([]byte("x")); err == nil {
		t.Error("a closed file takes lines")
	}
	f = openFile(t, h.options(filepath.Join(dir, "audit.log")))
	write(t, f, "4\n") // appends to the existing file
	closeFile(t, f)
	names, content := files(t, dir)
	want := []string{"audit-2026-11-21T12-00-00.123.log", "audit-2026-11-21T12-00-00.124.log", "audit-2026-11-21T13-00-00.123.log", "audit.log"}
	if !slices.Equal(names, want) {
		t.Fatalf("got %v, want %v", names, want)
	}
	for i, text := range []string{"1234\n1234\n", "2\n", "a line above the bound\n", "3\n4\n"} {
		if content[want[i]] != text {
			t.Errorf("%s holds %q, want %q", want[i], content[want[i]], text)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "audit.log"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestOldFilesAreRemoved(t *testing.T) {
	foreign := []string{"audit-x.log", "audit-2026-11-21T12-00-00.000.txt", "other-2026-11-21T12-00-00.000.log"}
	old := []string{
		"audit-2026-11-17T12-00-00.000.log", "audit-2026-11-18T12-00-00.000.log.gz",
		"audit-2026-11-19T12-00-00.000.log", "audit-2026-11-20T12-00-00.000.log",
	}
	for name, test := range map[string]struct {
		change func(*audit.FileOptions)
		kept   []string
	}{
		"all":     {func(*audit.FileOptions) {}, old},
		"three":   {func(o *audit.FileOptions) { o.MaxBackups = 3 }, old[1:]},
		"by age":  {func(o *audit.FileOptions) { o.MaxAge = 60 * time.Hour }, old[2:]},
		"both":    {func(o *audit.FileOptions) { o.MaxBackups, o.MaxAge = 1, 60*time.Hour }, old[3:]},
		"nothing": {func(o *audit.FileOptions) { o.MaxAge = time.Hour }, nil},
		"compressed": {func(o *audit.FileOptions) { o.Compress, o.MaxBackups = true, 2 }, []string{
			"audit-2026-11-19T12-00-00.000.log.gz", "audit-2026-11-20T12-00-00.000.log.gz"}},
	} {
		dir := t.TempDir()
		for _, name := range slices.Concat(foreign, old) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o := (&testClock{start}).options(filepath.Join(dir, "audit.log"))
		test.change(&o)
		closeFile(t, openFile(t, o))
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		want := slices.Concat(foreign, test.kept, []string{"audit.log"})
		slices.Sort(want)
		slices.Sort(names)
		if !slices.Equal(names, want) {
			t.Errorf("%s: got %v, want %v", name, names, want)
		}
	}
}

func TestRotatedFilesAreCompressed(t *testing.T) {
	dir := t.TempDir()
	h := &testClock{start}
	o := h.options(filepath.Join(dir, "audit.log"))
	o.Compress = true
	f := openFile(t, o)
	write(t, f, "first\n", "second\n")
	closeFile(t, f)
	names, content := files(t, dir)
	want := []string{"audit-2026-11-21T12-00-00.123.log.gz", "audit.log"}
	if !slices.Equal(names, want) || content[want[0]] != "first\n" || content[want[1]] != "second\n" {
		t.Errorf("got %v %v", names, content)
	}
}

func TestFileRecovers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	o := (&testClock{start}).options(filepath.Join(dir, "audit.log"))
	o.OnError = func(error) {} // ignores errors about old files
	f := openFile(t, o)
	write(t, f, "12345678\n")
	if err := os.Rename(dir, dir+"x"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := io.WriteString(f, "lost\n"); err == nil {
			t.Error("a line was written to nowhere")
		}
	}
	if err := os.Rename(dir+"x", dir); err != nil {
		t.Fatal(err)
	}
	write(t, f, "kept\n")
	closeFile(t, f)
	_, content := files(t, dir)
	if got := content["audit.log"]; got != "12345678\nkept\n" && got != "kept\n" {
		t.Errorf("%q", got)
	}
}
