package actors

import (
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
)

// fill appends records of versions from to to, a second apart.
func fill(h *history, from, to uint64) {
	for v := from; v <= to; v++ {
		h.append(&record{version: v, time: time.Unix(int64(v), 0), object: &meta.Object{Version: v, JSON: make([]byte, 10)}})
	}
}

func TestHistoryReadsEachRecordOnce(t *testing.T) {
	h := newHistory(0)
	c, ok := h.seek(0)
	if !ok {
		t.Fatal("the beginning is gone")
	}
	next := uint64(1)
	for _, to := range []uint64{1, chunkSize - 1, chunkSize, chunkSize + 1, 5*chunkSize + 7} {
		fill(h, next, to)
		for next <= to {
			records, ok := c.read(nil, 50)
			if !ok || len(records) == 0 {
				t.Fatalf("at %d of %d: %d records, %v", next, to, len(records), ok)
			}
			for _, r := range records {
				if r.version != next {
					t.Fatalf("version %d, want %d", r.version, next)
				}
				next++
			}
		}
	}
}

func TestHistorySeek(t *testing.T) {
	h := newHistory(0)
	fill(h, 1, 3*chunkSize)
	h.trim(time.Unix(chunkSize+1, 0), 1<<30) // the first chunk is older
	if floor := h.floor.Load(); floor != chunkSize {
		t.Errorf("floor %d, want %d", floor, chunkSize)
	}
	for version, there := range map[uint64]bool{0: false, chunkSize - 1: false, chunkSize: true, 2*chunkSize + 5: true, 3 * chunkSize: true, 9999: true} {
		c, ok := h.seek(version)
		if ok != there {
			t.Errorf("seek %d: %v, want %v", version, ok, there)
		}
		records, _ := c.read(nil, 1)
		if want := version < 3*chunkSize; there && (len(records) == 1) != want {
			t.Errorf("after %d: %d records", version, len(records))
		} else if there && want && records[0].version != version+1 {
			t.Errorf("after %d comes %d", version, records[0].version)
		}
	}
}

// A cursor whose place was trimmed says so, and holds no records in memory.
func TestHistoryTrimUnderCursor(t *testing.T) {
	h := newHistory(0)
	fill(h, 1, 10)
	c, _ := h.seek(0)
	if records, ok := c.read(nil, 5); !ok || len(records) != 5 {
		t.Fatal("the first records are missing")
	}
	fill(h, 11, 4*chunkSize)
	h.trim(time.Time{}, 10*chunkSize) // bytes for one chunk
	if records, ok := c.read(nil, 5); ok || len(records) != 0 {
		t.Errorf("%d records after the trim, %v", len(records), ok)
	}
	if len(*h.chunks.Load()) != 1 || h.bytes.Load() != 10*chunkSize {
		t.Errorf("%d chunks of %d bytes stay", len(*h.chunks.Load()), h.bytes.Load())
	}
}
