package storage

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest/freeport"
)

// TestStartsOnFullDisk checks that a daemon with existing objects, certificates and kubeconfig
// starts on a completely full disk.
func TestStartsOnFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=24m"); err != nil {
		t.Logf("no disk of one's own (%v): package persist has the same in memory", err)
		return
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	dir := filepath.Join(disk, "data")
	free := must.Get(freeport.Find())(t)
	port := fmt.Sprint(free)
	for _, kill := range []bool{false, true} {
		p := serveProcess(t, dir, "--secure-port", port)
		c := p.caller()
		c.must(t, 201, "POST", configMaps, numberedConfigMap(fmt.Sprint("kept-", kill), 1))
		if kill {
			p.Kill()
		} else {
			p.Stop()
		}
		fillUp(t, filepath.Join(disk, "filler"))
		p = serveProcess(t, dir, "--secure-port", port)
		c = p.caller()
		c.must(t, 200, "GET", configMaps+"/"+fmt.Sprint("kept-", kill), "")
		if code, text, err := c.do("POST", configMaps, numberedConfigMap("during", 1)); err != nil || code == 201 && len(text) == 0 {
			t.Errorf("a write: %d %v", code, err)
		}
		c.must(t, 200, "DELETE", configMaps+"/"+fmt.Sprint("kept-", kill), "")
		p.Stop()
		must.Succeed(t, os.Remove(filepath.Join(disk, "filler")))
		p = serveProcess(t, dir, "--secure-port", port)
		p.caller().must(t, 201, "POST", configMaps, numberedConfigMap(fmt.Sprint("after-", kill), 1))
		p.Stop()
	}
}
