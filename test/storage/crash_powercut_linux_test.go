package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

const (
	diskBytes     = 48 << 20
	shortCuts     = 2        // for each journal mode
	journalBlocks = "size=4" // MiB, so that the file system's own journal wraps often
)

// TestPowerCuts cuts the power under load, on ext4 in each of its three journal modes. Each
// unflushed sector is kept or lost at random. After the file system recovers, the daemon starts on
// it. No acknowledged write or delivered event may be missing. The test covers promises 19, 20, 22
// and 23 of docs/reliability.md.
func TestPowerCuts(t *testing.T) {
	client.NeedTool(t, "mkfs.ext4")
	client.OnDisk(t)
	lost := 0
	modes := []string{"ordered", "writeback", "journal"}
	for i, mode := range modes {
		dir := t.TempDir()
		m, err := newMachine(t, dir, mode)
		if err != nil {
			t.Skipf("this machine mounts nothing (%v): the same runs in memory in package persist (TestCrashEverywhere) and in TestSimulationHistories", err)
		}
		h := newHistory(t, dir, filepath.Join(m.root, "data"))
		h.random = rand.New(rand.NewPCG(h.seed, uint64(i)))
		for _, w := range h.workers {
			w.faulty = true // rejections are allowed between the power cut and the kill
		}
		p := start(t, h.binary, h.config, h.data)
		h.list(p)
		cuts := 0
		for n := range client.Rounds(t, shortCuts, len(modes)) {
			p = h.cycle(p, func(p *crashProcess) error {
				// The power fails at a random moment during the load, either between a write and
				// the next flush or after the flush.
				client.Receive(t, m.disk.writes.After(1+h.random.IntN(mostAnswers)), "writes of the disk")
				n, err := m.cutPower(p, h.random)
				lost += n
				return err
			})
			if t.Failed() {
				t.Fatalf("%s: cut %d", mode, n)
			}
			cuts++
		}
		if m.disk.cached == 0 || m.disk.flushes == 0 {
			t.Errorf("%s: %d sectors were cached, %d times flushed: no power cut can lose any", mode, m.disk.cached, m.disk.flushes)
		}
		client.Figures(t, "data=%s: %d power cuts, %s", mode, cuts, h)
		p.Kill()
		m.unmount()
	}
	client.Figures(t, "%d sectors were lost that had not been flushed", lost)
}

// A machine has an ext4 file system on a disk that can lose power.
type machine struct {
	t      *testing.T
	mode   string // data= option of the mount
	host   string // mount point of the file that represents the disk
	root   string // mount point of the file system on the disk
	disk   *powerDisk
	server *fuse.Server
}

// newMachine formats and mounts a disk. It returns an error if permission is denied.
func newMachine(t *testing.T, dir, mode string) (*machine, error) {
	m := &machine{t: t, mode: mode, host: filepath.Join(dir, "host"), root: filepath.Join(dir, "root")}
	image := filepath.Join(dir, "image")
	for _, path := range []string{m.host, m.root} {
		must.Succeed(t, os.Mkdir(path, 0o700))
	}
	must.Succeed(t, errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, diskBytes)))
	if err := runCrash("mkfs.ext4", "-q", "-F", "-b", "4096", "-J", journalBlocks, image); err != nil {
		return nil, err
	}
	content := client.ReadFile(t, image)
	t.Cleanup(m.unmount)
	return m, m.mount(content)
}

func runCrash(name string, arguments ...string) error {
	if out, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %q: %w %s", name, arguments, err, out)
	}
	return nil
}

// mount turns on the power, with the given disk content, and mounts the file system.
func (m *machine) mount(content []byte) (err error) {
	m.disk = newPowerDisk(content)
	root := &fs.Inode{}
	m.server, err = fs.Mount(m.host, root, &fs.Options{
		MountOptions: fuse.MountOptions{DirectMountStrict: true, FsName: "powerdisk"},
		OnAdd: func(ctx context.Context) {
			root.AddChild("disk", root.NewPersistentInode(ctx, m.disk, fs.StableAttr{Mode: fuse.S_IFREG}), false)
		},
	})
	if err != nil {
		m.server = nil
		return err
	}
	if err := runCrash("mount", "-t", "ext4", "-o", "loop,data="+m.mode, filepath.Join(m.host, "disk"), m.root); err != nil {
		err = errors.Join(err, m.server.Unmount())
		m.server = nil
		return err
	}
	return nil
}

func (m *machine) unmount() {
	if m.server == nil {
		return
	}
	if err := errors.Join(runCrash("umount", m.root), m.server.Unmount()); err != nil {
		m.t.Error(err)
	}
	m.server = nil
}

func (m *machine) cutPower(p *crashProcess, chance *rand.Rand) (lost int, err error) {
	content, lost := m.disk.cut(chance)
	p.Kill() // the process may have exited when its disk failed
	m.unmount()
	return lost, m.mount(content)
}

// TestPowerDisk checks that a power cut keeps flushed sectors and loses a random part of the
// others.
func TestPowerDisk(t *testing.T) {
	ctx, disk := t.Context(), newPowerDisk(make([]byte, 128*sector))
	fill := func(b byte) {
		if _, err := disk.Write(ctx, nil, bytes.Repeat([]byte{b}, 128*sector), 0); err != 0 {
			t.Fatal(err)
		}
	}
	fill(1)
	if err := disk.Fsync(ctx, nil, 0); err != 0 {
		t.Fatal(err)
	}
	fill(2)
	survives, lost := disk.cut(rand.New(rand.NewPCG(client.Seed(t, 1), 0)))
	if lost == 0 || lost == 128 || bytes.Count(survives, []byte{1}) != lost*sector || bytes.Count(survives, []byte{2}) != (128-lost)*sector {
		t.Errorf("of 128 sectors %d were lost", lost)
	}
	if _, err := disk.Write(ctx, nil, []byte{3}, 0); err != syscall.EIO {
		t.Errorf("a write without power: %v", err)
	}
}
