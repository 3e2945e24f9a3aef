package process

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
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

// everybody is let in as an administrator.
type everybody struct{}

func (everybody) Authenticate(authn.Request) (*authn.User, error) {
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
		Naming: meta.Platform, Catalog: kinds, Store: store, Authenticator: everybody{}, Authorizer: authz.Masters{},
		Listener: listener, Checks: []front.Check{{Name: "store", Check: store.Healthy}},
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve() }()
	transport := &http.Transport{TLSClientConfig: &tls.Config{}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = server.Shutdown(ctx)
		_ = store.Close(ctx)
		_ = journal.Close()
	})
	return caller{&http.Client{Transport: transport, Timeout: patience}, "http://" + listener.Addr().String()}, fatal
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
	case <-time.After(patience):
		t.Error("nobody is told that the server has to end")
	}
}

// TestFailedWriteEndsProcess checks invariant 23 on the binary: a file size limit makes the
// journal's writes fail, and the process says so and ends with status 1.
func TestFailedWriteEndsProcess(t *testing.T) {
	plain := binary
	limited := filepath.Join(t.TempDir(), "limited")
	script := "#!/bin/sh\nulimit -f 2048\nexec " + plain + " \"$@\"\n"
	if out, err := exec.Command("sh", "-c", `printf %s "$1" > "$2" && chmod 700 "$2"`, "sh", script, limited).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	binary = limited
	p := serve(t, filepath.Join(t.TempDir(), "data"))
	binary = plain
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
