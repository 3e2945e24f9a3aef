package vfs

import (
	"errors"
	"testing"
)

// TestVolatile: written bytes can be read, but are not stored twice, and no space is reserved.
func TestVolatile(t *testing.T) {
	m := NewVolatile()
	if err := m.MkdirAll("/a"); err != nil {
		t.Fatal(err)
	}
	f, err := m.Create("/a/b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("text"), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if n := m.now["/a/b"]; string(n.data) != "text" || len(n.synced) != 0 {
		t.Errorf("the file holds %q and %q", n.data, n.synced)
	}
	if err := f.Allocate(1 << 20); !errors.Is(err, errors.ErrUnsupported) || len(m.now["/a/b"].data) != 4 {
		t.Errorf("room was kept: %v", err)
	}
}
