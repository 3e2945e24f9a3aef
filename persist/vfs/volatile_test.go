package vfs

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

// TestVolatile checks that a volatile file system returns written bytes, keeps no second copy of
// them after Sync, and rejects Allocate.
func TestVolatile(t *testing.T) {
	m := NewVolatile()
	must.Succeed(t, m.MkdirAll("/a"))
	f := must.Get(m.Create("/a/b"))(t)
	must.Get(f.WriteAt([]byte("text"), 0))(t)
	must.Succeed(t, f.Sync())
	if n := m.now["/a/b"]; string(n.data) != "text" || len(n.synced) != 0 {
		t.Errorf("the file holds %q and %q", n.data, n.synced)
	}
	if err := f.Allocate(1 << 20); !errors.Is(err, errors.ErrUnsupported) || len(m.now["/a/b"].data) != 4 {
		t.Errorf("room was kept: %v", err)
	}
}

// TestFork makes the same random changes in every run to forks of a file system, and compares each
// fork with a model of its own.
func TestFork(t *testing.T) {
	type fork struct {
		files *Mem
		model []byte
	}
	random := rand.New(rand.NewPCG(1, 2))
	forks := []fork{{files: NewVolatile()}}
	must.Get(forks[0].files.Create("/f"))(t)
	for range 3000 {
		f := &forks[random.IntN(len(forks))]
		file := must.Get(f.files.Open("/f"))(t)
		at, size := random.IntN(len(f.model)+1), 1+random.IntN(40)
		switch random.IntN(10) {
		case 0:
			forks = append(forks, fork{f.files.Fork(), slices.Clone(f.model)})
		case 1:
			must.Succeed(t, file.Truncate(int64(at)))
			f.model = f.model[:at]
		case 2, 3, 4: // append
			at = len(f.model)
			fallthrough
		default:
			text := bytes.Repeat([]byte{byte(random.IntN(256))}, size)
			must.Get(file.WriteAt(text, int64(at)))(t)
			f.model = append(f.model[:at], append(text, f.model[min(at+size, len(f.model)):]...)...)
		}
		if len(forks) > 5 {
			forks = forks[1:]
		}
		for i := range forks {
			f := &forks[i]
			file := must.Get(f.files.Open("/f"))(t)
			from := random.IntN(len(f.model) + 1)
			part := make([]byte, len(f.model)-from)
			if n, err := file.ReadAt(part, int64(from)); n != len(part) || err != nil && len(part) > 0 {
				t.Fatalf("read %d of %d bytes: %v", n, len(part), err)
			}
			if size, err := file.Size(); !bytes.Equal(part, f.model[from:]) || size != int64(len(f.model)) || err != nil || f.files.Used() != size {
				t.Fatalf("fork %d has %q from %d of %d bytes, want %q; %v", i, part, from, size, f.model[from:], err)
			}
		}
	}
}
