package storage

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

// TestDiskFull checks that writes get 507 on a full disk, while reads and watches continue. Writes
// succeed again once there is space.
func TestDiskFull(t *testing.T) {
	disk := vfs.NewMem()
	c, fatal := inProcess(t, disk)
	c.must(t, 201, "POST", configMaps, numberedConfigMap("before", 1))
	before := c.must(t, 200, "GET", configMaps+"/before", "")
	watch := must.Get(c.http.Get(c.url + configMaps + "?watch=1&allowWatchBookmarks=true"))(t)
	defer watch.Body.Close()
	disk.SetFault(func(op vfs.Op) error {
		if op.Name == "write" {
			return syscall.ENOSPC
		}
		return nil
	})
	for _, r := range []struct{ method, path, body string }{
		{"POST", configMaps, numberedConfigMap("during", 1)},
		{"PUT", configMaps + "/before", numberedConfigMap("before", 2)},
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
	text := c.must(t, 201, "POST", configMaps, numberedConfigMap("after", 1))
	o := must.Get(parse(text))(t)
	events := ""
	for buf := make([]byte, 4096); !strings.Contains(events, fmt.Sprintf(`"resourceVersion":"%d"`, o.version())); {
		n, err := watch.Body.Read(buf)
		if events += string(buf[:n]); err != nil {
			t.Fatalf("the watch ended: %v after %s", err, events)
		}
	}
	if strings.Contains(events, "during") || strings.Contains(events, `"MODIFIED"`) || strings.Contains(events, `"DELETED"`) {
		t.Errorf("the watch has events of rejected writes: %s", events)
	}
	select {
	case err := <-fatal:
		t.Errorf("a full disk ended the server: %v", err)
	default:
	}
}

// TestFullDiskHeals fills the disk with the daemon's journal by updating one object. A delete
// succeeds while creates get 507. Creates later succeed again without intervention.
func TestFullDiskHeals(t *testing.T) {
	disk := vfs.NewMem()
	disk.SetBudget(6 << 20)
	c, fatal := inProcess(t, disk)
	c.must(t, 201, "POST", configMaps, numberedConfigMap("before", 1))
	padding := strings.Repeat("x", 100<<10)
	c.must(t, 201, "POST", configMaps, numberedConfigMap("big", 1))
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
		code, _, err := c.do("POST", configMaps, numberedConfigMap("after", 1))
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

func fillUp(t *testing.T, path string) {
	t.Helper()
	file := must.Get(os.Create(path))(t)
	for size := 1 << 20; size > 0; {
		if _, err := file.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	must.Succeed(t, file.Close())
}
