package vfs

import (
	"errors"
	"testing"
)

// TestVolatile: what is written can be read, but neither is it kept twice nor room for more.
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
