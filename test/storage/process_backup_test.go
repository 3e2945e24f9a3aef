package storage

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// A processWrite is an acknowledged write. The version of a delete is 0, because the response does
// not contain it.
type processWrite struct {
	version uint64
	name    string
	state   string // "" if the object was deleted
}

// A load writes objects until stopped, and records acknowledged writes.
type load struct {
	mu     sync.Mutex
	writes []processWrite
	fault  error
}

func (l *load) acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.writes)
}

func (l *load) add(w processWrite, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes = append(l.writes, w)
	if err != nil && l.fault == nil {
		l.fault = err
	}
}

// run creates, updates and deletes a few objects that no other worker uses.
func (l *load) run(c caller, worker int, stop <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		name := fmt.Sprintf("w%d-%d", worker, n/7%5)
		method, path, body, code := "PUT", configMaps+"/"+name, numberedConfigMap(name, n), 200
		switch n % 7 {
		case 0:
			method, path, code = "POST", configMaps, 201
		case 6:
			method, body = "DELETE", ""
		}
		got, text, err := c.do(method, path, body)
		if err == nil && got != code {
			err = fmt.Errorf("%s %s: %d %s", method, path, got, text)
		}
		if err != nil {
			l.add(processWrite{}, err)
			return
		}
		if method == "DELETE" {
			l.add(processWrite{name: name}, nil) // the response does not contain its version
			continue
		}
		o, err := parse(text)
		l.add(processWrite{o.version(), name, o.state()}, err)
	}
}

// stateAt returns the objects at a version. A deleted name that was not recreated at or before
// version is doubtful, because the version of a delete is unknown.
func (l *load) stateAt(version uint64) (states map[string]string, doubtful map[string]bool) {
	states, doubtful = map[string]string{}, map[string]bool{}
	over := map[string]bool{}
	for _, w := range l.writes { // each name has one writer, so its writes are in order
		switch {
		case over[w.name]:
		case w.state == "":
			doubtful[w.name] = true
		case w.version > version:
			over[w.name] = true
		default:
			states[w.name] = w.state
			delete(doubtful, w.name)
		}
	}
	return states, doubtful
}

var printedVersion = regexp.MustCompile(`at resource version (\d+)`)

// TestBackupUnderLoad checks that a backup under load contains exactly the objects at its resource
// version. A restored server continues with greater versions and rejects old watches with 410.
func TestBackupUnderLoad(t *testing.T) {
	p := serveProcess(t, filepath.Join(t.TempDir(), "data"))
	l, stop := &load{}, make(chan struct{})
	var writers sync.WaitGroup
	for worker := range 4 {
		c := p.caller()
		writers.Go(func() { l.run(c, worker, stop) })
	}
	versions := map[string]uint64{}
	for n := range 3 {
		seen := l.acknowledged()
		eventually(t, "the load goes on", func() bool { return l.acknowledged() > seen+60 })
		file := filepath.Join(t.TempDir(), fmt.Sprint(n, ".backup"))
		text := mustCommand(t, "backup", "--kubeconfig", p.Kubeconfig, file)
		match := printedVersion.FindStringSubmatch(text)
		if match == nil {
			t.Fatalf("no version in %q", text)
		}
		versions[file], _ = strconv.ParseUint(match[1], 10, 64)
	}
	close(stop)
	writers.Wait()
	if l.fault != nil {
		t.Fatal(l.fault)
	}
	o := must.Get(parse(p.caller().must(t, 201, "POST", configMaps, numberedConfigMap("newest", 0))))(t)
	p.Stop()
	for file, version := range versions {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the file: %v, %v", info, err)
		}
		checkRestored(t, l, version, o.version(), file)
	}
}

// checkRestored runs restore with the given arguments and compares the result with the objects
// recorded at version. newest is the original server's last version.
func checkRestored(t *testing.T, l *load, version, newest uint64, arguments ...string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "restored")
	mustCommand(t, append([]string{"restore", "--data-dir", dir}, arguments...)...)
	p := serveProcess(t, dir)
	defer p.Stop()
	c := p.caller()
	got := c.list(t)
	want, doubtful := l.stateAt(version)
	if len(want) == 0 {
		t.Error("the backup should hold something")
	}
	for name := range doubtful {
		if got[name] == "" {
			delete(want, name)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("at version %d: got %v, want %v", version, got, want)
	}
	text := c.must(t, 201, "POST", configMaps, numberedConfigMap("after", 0))
	if o, err := parse(text); err != nil || o.version() <= newest {
		t.Errorf("version %d, %v, after %d had been given out", o.version(), err, newest)
	}
	for _, old := range []uint64{version, newest} {
		path := configMaps + "?watch=1&timeoutSeconds=1&resourceVersion=" + strconv.FormatUint(old, 10)
		code, text, err := c.do("GET", path, "")
		if err != nil || code != 200 || !strings.Contains(text, `"code":410`) {
			t.Errorf("a watch from %d: %d %s, %v", old, code, text, err)
		}
	}
}

// TestBackupNeedsAdministrator checks that only administrators can download a backup.
func TestBackupNeedsAdministrator(t *testing.T) {
	p := serveProcess(t, filepath.Join(t.TempDir(), "data"))
	config := adminTLS(t, p.dir)
	config.Certificates = nil
	c := caller{&http.Client{Transport: &http.Transport{TLSClientConfig: config}}, p.URL}
	for _, method := range []string{"GET", "POST", "HEAD"} {
		if code, text, err := c.do(method, "/backup", ""); err != nil || code != 403 {
			t.Errorf("%s: %d %q, %v, want 403", method, code, text, err)
		}
	}
	p.caller().must(t, 405, "POST", "/backup", "")
}

// TestCutBackupIsAnError checks that a truncated or corrupt backup is removed, even if the transfer
// appears complete.
func TestCutBackupIsAnError(t *testing.T) {
	dir := t.TempDir()
	p := serveProcess(t, filepath.Join(dir, "data"))
	p.caller().must(t, 201, "POST", configMaps, numberedConfigMap("a", 0))
	whole := p.caller().must(t, 200, "GET", "/backup", "")
	config := client.ReadFile(t, p.Kubeconfig)
	for name, body := range map[string]string{
		"empty": "", "half": whole[:len(whole)/2], "no end": whole[:len(whole)-1],
		"more": whole + "x", "page": "<html></html>", "flipped": whole[:40] + "!" + whole[41:],
	} {
		fake := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(body))
		}))
		ca := pki.PEM(fake.Certificate())
		text := strings.Replace(string(config), p.URL, fake.URL, 1)
		text = regexp.MustCompile(`certificate-authority-data: .*`).ReplaceAllString(text,
			"certificate-authority-data: "+base64.StdEncoding.EncodeToString(ca))
		file := filepath.Join(dir, "fake.kubeconfig")
		client.WriteFile(t, file, text)
		out := filepath.Join(dir, "out")
		must.Succeed(t, os.MkdirAll(out, 0o700))
		code, message := command(t, "backup", "--kubeconfig", file, filepath.Join(out, "state.backup"))
		if code == 0 || !strings.Contains(message, "backup is damaged") {
			t.Errorf("%s: exit status %d, %s", name, code, message)
		}
		if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
		fake.Close()
	}
}
