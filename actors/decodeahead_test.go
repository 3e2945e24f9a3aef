package actors_test

import (
	"math/rand/v2"
	"testing"

	"github.com/troupe-api/troupe/persist/vfs"
)

// TestRecoveryAppliesInOrder checks that recovery decodes versions of an object concurrently but
// applies them in order. The last version must win, and lists at earlier versions must be
// unchanged.
func TestRecoveryAppliesInOrder(t *testing.T) {
	disk, seen := vfs.NewMem(), listsByVersion{}
	h := openOn(t, "/data", disk, nil)
	h.churn(rand.New(rand.NewPCG(1, 2)), 1500, seen) // several times as many as are decoded concurrently
	h.close()
	h = openOn(t, "/data", disk, nil)
	defer h.close()
	if gone := h.checkLists(seen); gone > len(seen)/2 {
		t.Errorf("%d versions of %d are gone", gone, len(seen))
	}
}
