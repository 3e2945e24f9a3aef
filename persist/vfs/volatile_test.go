package vfs

import (
	"errors"
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
