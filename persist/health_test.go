package persist

import (
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

// TestIdleMaintenanceIsNoSignOfHealth checks that maintenance that writes nothing does not count as
// a successful disk operation. Otherwise an idle journal would never probe the disk.
func TestIdleMaintenanceIsNoSignOfHealth(t *testing.T) {
	j, _ := mustReopen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, j)
	mustAppend(t, j, put("a", "1"))
	must.Succeed(t, j.writeWatermark())
	const longAgo = 1
	j.disk.since.Store(longAgo)
	if err := j.writeWatermark(); err != nil || j.disk.since.Load() != longAgo {
		t.Errorf("%v; the disk counts as having answered at %d", err, j.disk.since.Load())
	}
	mustAppend(t, j, put("a", "2"))
	if j.disk.since.Load() == longAgo {
		t.Error("a write counts for nothing")
	}
}
