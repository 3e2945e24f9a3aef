package storage

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// pointSettings make the daemon archive its journal as early as possible.
const pointSettings = `
journal-segment-bytes: 1Mi
journal-archive-bytes: 64Mi
snapshot-journal-bytes: 1Mi
watch-history-time: 1s
`

// TestPointInTime restores earlier resource versions under load, across backups and compactions. By
// time, it also restores the objects from before an accidental deletion.
func TestPointInTime(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "troupe.yaml")
	client.WriteFile(t, config, pointSettings)
	data := filepath.Join(dir, "data")
	p := serveProcess(t, data, "--config", config)
	c := p.caller()
	l, stop := &load{}, make(chan struct{})
	var writers sync.WaitGroup
	for worker := range 4 {
		c := p.caller()
		writers.Go(func() { l.run(c, worker, stop) })
	}
	more := func() {
		t.Helper()
		seen := l.acknowledged()
		eventually(t, "the load goes on", func() bool { return l.acknowledged() > seen+80 })
	}
	file := filepath.Join(dir, "state.backup")
	more()
	mustCommand(t, "backup", "--kubeconfig", p.Kubeconfig, file)
	for range 3 {
		more()
		mustCommand(t, "compact", "--kubeconfig", p.Kubeconfig)
	}
	more()
	close(stop)
	writers.Wait()
	if l.fault != nil {
		t.Fatal(l.fault)
	}
	before := c.list(t)
	calm := time.Now()
	o := must.Get(parse(c.must(t, 201, "POST", configMaps, numberedConfigMap("newest", 0))))(t)
	c.must(t, 200, "DELETE", configMaps, "")
	eventually(t, "the journal before the last snapshot is archived", func() bool {
		mustCommand(t, "compact", "--kubeconfig", p.Kubeconfig)
		archived, err := filepath.Glob(filepath.Join(data, "archive", "*.journal"))
		return err == nil && len(archived) > 1
	})
	for _, n := range []int{100, 200, 300} {
		version := l.versionOf(n)
		checkRestored(t, l, version, o.version(), "--journal", data, "--to", strconv.FormatUint(version, 10), file)
	}
	restored := filepath.Join(dir, "calm")
	mustCommand(t, "restore", "--data-dir", restored, "--journal", data, "--to", calm.UTC().Format(time.RFC3339Nano), file)
	again := serveProcess(t, restored)
	if got := again.caller().list(t); len(got) == 0 || fmt.Sprint(got) != fmt.Sprint(before) {
		t.Errorf("before the accident there was %v, restored is %v", before, got)
	}
	again.Stop()
	for _, wrong := range []struct{ to, says string }{
		{"99999999999", "is after the end"}, {"yesterday", "neither a resource version nor a time"},
		{"0", "neither a resource version nor a time"}, {"2001-01-01T00:00:00Z", "before"}, {"2101-01-01T00:00:00Z", "after the last change"},
	} {
		code, text := command(t, "restore", "--data-dir", filepath.Join(dir, "wrong"), "--journal", data, "--to", wrong.to, file)
		if code != 1 || !strings.Contains(text, wrong.says) {
			t.Errorf("--to %s: status %d, want 1 and %q in %s", wrong.to, code, wrong.says, text)
		}
	}
	c.must(t, 201, "POST", configMaps, numberedConfigMap("after", 0))
	p.Stop()
	mustCommand(t, "verify", "--data-dir", data)
	mustCommand(t, "verify", "--data-dir", restored)
}

// versionOf returns the version of the n-th write or, if that is unknown, of the next write with a
// known version.
func (l *load) versionOf(n int) uint64 {
	for l.writes[n].version == 0 {
		n++
	}
	return l.writes[n].version
}

// TestRestoreIsKilled kills restores at various moments. The next restore must complete the
// directory or find it complete.
func TestRestoreIsKilled(t *testing.T) {
	dir := t.TempDir()
	p := serveProcess(t, filepath.Join(dir, "data"))
	c := p.caller()
	c.fill(t, configMaps, 64, func(n int) string { return numberedConfigMap(fmt.Sprint("c", n), n) })
	want := c.list(t)
	p.Stop()
	file := filepath.Join(dir, "state.backup")
	mustCommand(t, "backup", "--data-dir", p.dir, file)
	into := filepath.Join(dir, "restored")
	arguments := []string{"restore", "--data-dir", into, "--journal", p.dir, file}
	mustCommand(t, arguments...)
	whole, size := 0, sizeOf(into)
	must.Succeed(t, os.RemoveAll(into))
	const kills = 6
	for n := range kills {
		r := exec.Command(client.TroupeBinary(t), arguments...)
		must.Succeed(t, r.Start())
		// Kill the first restore immediately, and later ones after more progress.
		client.Poll(func() bool { return sizeOf(into) >= size*int64(n)/kills })
		_ = r.Process.Kill() // the process may have exited
		_ = r.Wait()         // the files show the result
		code, text := command(t, arguments...)
		if code != 0 && !strings.Contains(text, "not empty") {
			t.Fatalf("after a kill: %s", text)
		}
		if code != 0 {
			whole++
		}
		again := serveProcess(t, into)
		if got := again.caller().list(t); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("restored is %v, want %v", got, want)
		}
		again.Stop()
		must.Succeed(t, os.RemoveAll(into))
	}
	t.Logf("%d kills, after %d of which the directory was whole", kills, whole)
}

// sizeOf returns the total size in bytes of the files below a directory. It may miss files that are
// being renamed.
func sizeOf(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := entry.Info(); err == nil && !entry.IsDir() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// TestCompact checks that compaction shrinks the journal, and that no data is lost if the daemon is
// then killed.
func TestCompact(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "troupe.yaml")
	client.WriteFile(t, config, "watch-history-time: 1s")
	p := serveProcess(t, filepath.Join(dir, "data"), "--config", config)
	c := p.caller()
	c.must(t, 201, "POST", configMaps, numberedConfigMap("a", 0))
	for n := range 50 {
		c.must(t, 200, "PUT", configMaps+"/a", strings.Replace(numberedConfigMap("a", n), `"data":{`, `"data":{"x":"`+strings.Repeat("x", 20_000)+`",`, 1))
	}
	want := c.list(t)
	size := func() (sum int64) {
		files := must.Get(filepath.Glob(filepath.Join(p.dir, "journal", "*")))(t)
		for _, f := range files {
			if info, err := os.Stat(f); err == nil { // the file may already be removed
				sum += info.Size()
			}
		}
		return sum
	}
	if before := size(); before < 1_000_000 {
		t.Fatalf("the journal has %d bytes", before)
	}
	eventually(t, "the journal is short", func() bool {
		c.must(t, 200, "PUT", configMaps+"/a", numberedConfigMap("a", 49)) // another batch starts the next segment
		mustCommand(t, "compact", "--kubeconfig", p.Kubeconfig)
		return size() < 500_000
	})
	c.must(t, 405, "GET", "/compact", "")
	if got := c.list(t); len(got) != len(want) {
		t.Errorf("%v, want %v", got, want)
	}
	want = c.list(t)
	p.Kill()
	again := serveProcess(t, p.dir)
	if got := again.caller().list(t); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("after a kill %v, want %v", got, want)
	}
	again.Stop()
}
