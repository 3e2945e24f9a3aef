package storage

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
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
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/test/client"
)

type adminAuthenticator struct{}

func (adminAuthenticator) Authenticate(authn.Request) (*authn.User, error) {
	return &authn.User{Name: "admin", Groups: []string{"system:masters"}}, nil
}

// inProcess starts a server on an in-memory disk that can be made to fail. The channel receives the
// server's fatal error, if any.
func inProcess(t *testing.T, disk *vfs.Mem) (caller, <-chan error) {
	t.Helper()
	kinds := must.Get(catalog.New(meta.Platform))(t)
	journal := must.Get(persist.Open("data", persist.Options{FS: disk}))(t)
	fatal := make(chan error, 1)
	store := must.Get(actors.Open(actors.Options{
		Log: journal, Catalog: kinds, Naming: meta.Platform, Tuning: actors.DefaultTuning(),
		Fatal: func(err error) { fatal <- err },
	}))(t)
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	server := must.Get(front.New(front.Options{
		Naming: meta.Platform, Catalog: kinds, Store: store, Authenticator: adminAuthenticator{}, Authorizer: authz.Masters{},
		Listener: listener, WriteMetrics: func(w io.Writer) { store.WriteMetrics(w) },
		Checks: []front.Check{{Name: "store", Check: store.Healthy}, {Name: "disk", Check: journal.Healthy}},
	}))(t)
	go func() { _ = server.Serve() }()
	transport := &http.Transport{TLSClientConfig: &tls.Config{}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), client.Watchdog)
		defer cancel()
		_ = server.Shutdown(ctx)
		_ = store.Close(ctx)
		_ = journal.Close()
	})
	return caller{&http.Client{Transport: transport, Timeout: client.Watchdog}, "http://" + listener.Addr().String()}, fatal
}

// TestHungDisk checks that /readyz reports an unresponsive disk even if no client writes.
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

// TestFailedSync checks that neither a write whose sync fails nor later writes are acknowledged.
func TestFailedSync(t *testing.T) {
	disk := vfs.NewMem()
	c, fatal := inProcess(t, disk)
	c.must(t, 201, "POST", configMaps, numberedConfigMap("before", 1))
	var broken atomic.Bool
	disk.SetFault(func(o vfs.Op) error {
		if o.Name == "sync" && broken.Load() {
			return syscall.EIO
		}
		return nil
	})
	broken.Store(true)
	c.must(t, 503, "POST", configMaps, numberedConfigMap("during", 1))
	broken.Store(false)
	c.must(t, 503, "POST", configMaps, numberedConfigMap("after", 1))
	c.must(t, 500, "GET", "/readyz", "")
	c.must(t, 404, "GET", configMaps+"/during", "")
	select {
	case err := <-fatal:
		if !strings.Contains(err.Error(), syscall.EIO.Error()) {
			t.Errorf("it ends for %v", err)
		}
	case <-time.After(client.Watchdog):
		t.Error("the fatal error is not reported")
	}
}

// TestFailedWriteEndsProcess limits the file size so that a journal write of the server fails. The
// server must report the error and exit with status 1.
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
	if code := p.Wait(); code != 1 || !strings.Contains(p.Log.String(), "troupe: ") || !strings.Contains(p.Log.String(), "file too large") {
		t.Errorf("exit status %d\n%s", code, p.Log)
	}
	again := serveProcess(t, p.dir)
	if got := len(again.caller().list(t)); acknowledged == 0 || got < acknowledged || got > acknowledged+1 {
		t.Errorf("%d objects after recovery, %d were acknowledged", got, acknowledged)
	}
	again.Stop()
}

// TestEverybodyInFlightIsAnswered makes the journal fail during many concurrent writes. All pending
// requests must get 503 before the process exits.
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
	if code := p.Wait(); code != 1 {
		t.Errorf("exit status %d", code)
	}
}

// limited starts a daemon with a file size limit in blocks of 512 bytes.
func limited(t *testing.T, blocks int) *daemonProcess {
	t.Helper()
	path := filepath.Join(t.TempDir(), "limited")
	script := fmt.Sprintf("#!/bin/sh\nulimit -f %d\nexec %s \"$@\"\n", blocks, client.TroupeBinary(t))
	// Write the script in a separate process. If this process wrote it, a concurrently forked child
	// could inherit the open file, and running the script would fail with ETXTBSY.
	if out, err := exec.Command("sh", "-c", `printf %s "$1" > "$2" && chmod 700 "$2"`, "sh", script, path).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	return serveProgram(t, path, filepath.Join(t.TempDir(), "data"))
}
