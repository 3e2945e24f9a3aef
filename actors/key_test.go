package actors_test

import (
	"testing"
	"unsafe"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/persist/vfs"
)

// TestKeysOwnTheirBytes checks that a retained key does not retain the object's JSON, whether the
// key comes from a write, the journal or a snapshot.
func TestKeysOwnTheirBytes(t *testing.T) {
	fs := vfs.NewMem()
	for _, source := range []string{"a write", "the journal", "a snapshot"} {
		h := openOn(t, "/data", fs, nil)
		switch source {
		case "a write":
			must.Get(h.create("a", "1"))(t)
		case "the journal":
			must.Succeed(t, h.Snapshot())
		}
		items := h.list(request.List{}).Items
		if len(items) != 1 {
			t.Fatalf("%d objects from %s", len(items), source)
		}
		checkKeyOwned(t, source, items[0])
		h.close()
	}
}

func checkKeyOwned(t *testing.T, source string, o *meta.Object) {
	t.Helper()
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(o.JSON)))
	for _, text := range []string{o.Key.Namespace, o.Key.Name} {
		if at := uintptr(unsafe.Pointer(unsafe.StringData(text))); at >= begin && at < begin+uintptr(len(o.JSON)) {
			t.Errorf("%q of the key is a part of the JSON of an object from %s", text, source)
		}
	}
}
