package process

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors"
	front "github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// adminAuthenticator is let in as an administrator.
type adminAuthenticator struct{}

func (adminAuthenticator) Authenticate(authn.Request) (*authn.User, error) {
	return &authn.User{Name: "admin", Groups: []string{"system:masters"}}, nil
}

// inProcess wires a server on a disk in memory, which can be broken. fatal gets what ends it.
func inProcess(t *testing.T, disk *vfs.Mem) (caller, <-chan error) {
	t.Helper()
	kinds, err := catalog.New(meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
	journal, err := persist.Open("data", persist.Options{FS: disk})
	if err != nil {
		t.Fatal(err)
	}
	fatal := make(chan error, 1)
	store, err := actors.Open(actors.Options{
		Log: journal, Catalog: kinds, Naming: meta.Platform, Tuning: actors.DefaultTuning(),
		Fatal: func(err error) { fatal <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, err := front.New(front.Options{
		Naming: meta.Platform, Catalog: kinds, Store: store, Authenticator: adminAuthenticator{}, Authorizer: authz.Masters{},
		Listener: listener, WriteMetrics: func(w io.Writer) { store.WriteMetrics(w) },
		Checks: []front.Check{{Name: "store", Check: store.Healthy}, {Name: "disk", Check: journal.Healthy}},
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve() }()
	transport := &http.Transport{TLSClientConfig: &tls.Config{}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
		defer cancel()
		_ = server.Shutdown(ctx)
		_ = store.Close(ctx)
		_ = journal.Close()
	})
	return caller{&http.Client{Transport: transport, Timeout: waitTimeout}, "http://" + listener.Addr().String()}, fatal
}

// TestDiskFull checks invariant 24: 507 for writes, service for reads and watches, and
// writes again as soon as there is room.
func TestDiskFull(t *testing.T) {
	disk := vfs.NewMem()
	c, fatal := inProcess(t, disk)
	c.must(t, 201, "POST", configMaps, configMap("before", 1))
	before := c.must(t, 200, "GET", configMaps+"/before", "")
	watch, err := c.http.Get(c.url + configMaps + "?watch=1&allowWatchBookmarks=true")
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Body.Close()
	disk.SetFault(func(op vfs.Op) error {
		if op.Name == "write" {
			return syscall.ENOSPC
		}
		return nil
	})
	for _, r := range []struct{ method, path, body string }{
		{"POST", configMaps, configMap("during", 1)},
		{"PUT", configMaps + "/before", configMap("before", 2)},
		{"DELETE", configMaps + "/before", ""},
	} {
		text := c.must(t, 507, r.method, r.path, r.body)
		if !strings.Contains(text, `"kind":"Status"`) || !strings.Contains(text, "full") {
			t.Errorf("%s: %s", r.method, text)
		}
		if now := c.must(t, 200, "GET", configMaps+"/before", ""); now != before {
			t.Errorf("after %s: %s, want %s", r.method, now, before)
		}
	}
	c.must(t, 404, "GET", configMaps+"/during", "")
	c.must(t, 200, "GET", "/livez", "")
	disk.SetFault(nil)
	text := c.must(t, 201, "POST", configMaps, configMap("after", 1))
	o, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	events := ""
	for buf := make([]byte, 4096); !strings.Contains(events, fmt.Sprintf(`"resourceVersion":"%d"`, o.version())); {
		n, err := watch.Body.Read(buf)
		if events += string(buf[:n]); err != nil {
			t.Fatalf("the watch ended: %v after %s", err, events)
		}
	}
	if strings.Contains(events, "during") || strings.Contains(events, `"MODIFIED"`) || strings.Contains(events, `"DELETED"`) {
		t.Errorf("the watch tells of refused writes: %s", events)
	}
	select {
	case err := <-fatal:
		t.Errorf("a full disk ended the server: %v", err)
	default:
	}
}

// TestFullDiskHeals fills the disk by the daemon's own journal, with one object written over and
// over: a delete passes while creates are answered 507, and creates pass again by themselves.
func TestFullDiskHeals(t *testing.T) {
	disk := vfs.NewMem()
	disk.SetBudget(6 << 20)
	c, fatal := inProcess(t, disk)
	c.must(t, 201, "POST", configMaps, configMap("before", 1))
	padding := strings.Repeat("x", 100<<10)
	c.must(t, 201, "POST", configMaps, configMap("big", 1))
	for n := 0; ; n++ {
		code, text, err := c.do("PUT", configMaps+"/big", fmt.Sprintf(`{"metadata":{"name":"big"},"data":{"n":"%d","p":%q}}`, n, padding))
		if err != nil || code != 200 && code != 507 || n > 1000 {
			t.Fatalf("write %d: %d %s %v", n, code, text, err)
		}
		if code == 507 {
			break
		}
	}
	c.must(t, 200, "DELETE", configMaps+"/before", "")
	eventually(t, "creates pass again", func() bool {
		code, _, err := c.do("POST", configMaps, configMap("after", 1))
		return err == nil && code == 201
	})
	eventually(t, "the disk is said to have room", func() bool {
		_, text, err := c.do("GET", "/metrics", "")
		return err == nil && strings.Contains(text, "\ntroupe_disk_full 0\n")
	})
	c.must(t, 404, "GET", configMaps+"/before", "")
	select {
	case err := <-fatal:
		t.Errorf("a full disk ended the server: %v", err)
	default:
	}
}

// TestHungDisk: /readyz tells of a disk that does not answer, also if nobody writes.
func TestHungDisk(t *testing.T) {
	disk := vfs.NewMem()
	c, _ := inProcess(t, disk)
	c.must(t, 200, "GET", "/readyz", "")
	answers := make(chan struct{})
	var once sync.Once
	release := func() { once.Do(func() { close(answers) }) }
	t.Cleanup(release)
	disk.SetFault(func(op vfs.Op) error {
		if op.Name == "write" {
			<-answers
		}
		return nil
	})
	eventually(t, "/readyz fails", func() bool {
		code, text, err := c.do("GET", "/readyz", "")
		return err == nil && code == 500 && strings.Contains(text, "[-]disk failed")
	})
	release()
	eventually(t, "/readyz passes when the disk answers", func() bool {
		code, _, err := c.do("GET", "/readyz", "")
		return err == nil && code == 200
	})
}

// TestFailedSync checks invariant 23: it is never acknowledged, and nothing is after it.
func TestFailedSync(t *testing.T) {
	disk := vfs.NewMem()
	c, fatal := inProcess(t, disk)
	c.must(t, 201, "POST", configMaps, configMap("before", 1))
	var broken atomic.Bool
	disk.SetFault(func(o vfs.Op) error {
		if o.Name == "sync" && broken.Load() {
			return syscall.EIO
		}
		return nil
	})
	broken.Store(true)
	c.must(t, 503, "POST", configMaps, configMap("during", 1))
	broken.Store(false)
	c.must(t, 503, "POST", configMaps, configMap("after", 1))
	c.must(t, 500, "GET", "/readyz", "")
	c.must(t, 404, "GET", configMaps+"/during", "")
	select {
	case err := <-fatal:
		if !strings.Contains(err.Error(), syscall.EIO.Error()) {
			t.Errorf("it ends for %v", err)
		}
	case <-time.After(waitTimeout):
		t.Error("nobody is told that the server has to end")
	}
}

// TestFailedWriteEndsProcess checks invariant 23 on the binary: a file size limit makes the
// journal's writes fail, and the process says so and ends with status 1.
func TestFailedWriteEndsProcess(t *testing.T) {
	p := limited(t, 2048)
	c := p.caller()
	acknowledged := 0
	padding := strings.Repeat("x", 20<<10)
	for n := 0; ; n++ {
		if n > 100 {
			t.Fatal("the limit does not bite")
		}
		code, _, err := c.do("POST", configMaps, fmt.Sprintf(`{"metadata":{"name":"c%d"},"data":{"n":%q}}`, n, padding))
		if err != nil || code != 201 {
			if err == nil && code != 503 {
				t.Errorf("the failed write: %d", code)
			}
			break
		}
		acknowledged++
	}
	if code := p.wait(); code != 1 || !strings.Contains(p.log.String(), "troupe: ") || !strings.Contains(p.log.String(), "file too large") {
		t.Errorf("exit status %d\n%s", code, p.log)
	}
	again := serve(t, p.dir)
	if got := len(again.caller().list(t)); acknowledged == 0 || got < acknowledged || got > acknowledged+1 {
		t.Errorf("%d objects after recovery, %d were acknowledged", got, acknowledged)
	}
	again.stop()
}

// TestEverybodyInFlightIsAnswered fails the log under many writers: whoever waits gets 503 before
// the process ends.
func TestEverybodyInFlightIsAnswered(t *testing.T) {
	p := limited(t, 2048)
	const writers = 32
	padding := strings.Repeat("x", 4<<10)
	last := make(chan string, writers)
	for w := range writers {
		c := p.caller()
		go func() {
			for n := range 1000 {
				code, text, err := c.do("POST", configMaps, fmt.Sprintf(`{"metadata":{"name":"w%d-%d"},"data":{"n":%q}}`, w, n, padding))
				if err != nil || code != 201 {
					last <- fmt.Sprintf("%d %v %s", code, err, text)
					return
				}
			}
			last <- "the limit does not bite"
		}()
	}
	for range writers {
		if text := <-last; !strings.HasPrefix(text, "503 <nil> ") || !strings.Contains(text, `"kind":"Status"`) {
			t.Errorf("a writer got %s", text)
		}
	}
	if code := p.wait(); code != 1 {
		t.Errorf("exit status %d", code)
	}
}

// TestStartsOnFullDisk starts a daemon on a disk on which there is no room at all: it serves what
// there is, with the certificates and the client configuration that there are.
func TestStartsOnFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=24m"); err != nil {
		t.Logf("no disk of one's own (%v): package persist has the same in memory", err)
		return
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	dir := filepath.Join(disk, "data")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(free.Addr().(*net.TCPAddr).Port)
	_ = free.Close()
	for _, kill := range []bool{false, true} {
		p := serve(t, dir, "--secure-port", port)
		c := p.caller()
		c.must(t, 201, "POST", configMaps, configMap(fmt.Sprint("kept-", kill), 1))
		if kill {
			p.kill()
		} else {
			p.stop()
		}
		fillUp(t, filepath.Join(disk, "filler"))
		p = serve(t, dir, "--secure-port", port)
		c = p.caller()
		c.must(t, 200, "GET", configMaps+"/"+fmt.Sprint("kept-", kill), "")
		if code, text, err := c.do("POST", configMaps, configMap("during", 1)); err != nil || code == 201 && len(text) == 0 {
			t.Errorf("a write: %d %v", code, err)
		}
		c.must(t, 200, "DELETE", configMaps+"/"+fmt.Sprint("kept-", kill), "")
		p.stop()
		if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
			t.Fatal(err)
		}
		p = serve(t, dir, "--secure-port", port)
		p.caller().must(t, 201, "POST", configMaps, configMap(fmt.Sprint("after-", kill), 1))
		p.stop()
	}
}

// fillUp writes a file until not a byte more fits.
func fillUp(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := 1 << 20; size > 0; {
		if _, err := file.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// limited starts a daemon whose files may have so many blocks of 512 bytes.
func limited(t *testing.T, blocks int) *process {
	t.Helper()
	plain, path := binary, filepath.Join(t.TempDir(), "limited")
	script := fmt.Sprintf("#!/bin/sh\nulimit -f %d\nexec %s \"$@\"\n", blocks, plain)
	// Written by another process, so that no child of this one has it open for writing.
	if out, err := exec.Command("sh", "-c", `printf %s "$1" > "$2" && chmod 700 "$2"`, "sh", script, path).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	binary = path
	defer func() { binary = plain }()
	return serve(t, filepath.Join(t.TempDir(), "data"))
}
