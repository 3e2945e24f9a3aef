package actors

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
)

func appendRecords(h *history, from, to uint64) {
	for v := from; v <= to; v++ {
		h.retention.append(h, []*record{{version: v, time: time.Unix(int64(v), 0), object: &meta.Object{Version: v}, bytes: 10}})
	}
}

func newTestHistory(limit int64) *history { return newHistory(0, newRetention(limit)) }

func TestHistoryReadsEachRecordOnce(t *testing.T) {
	h := newTestHistory(1 << 30)
	c, ok := h.seek(0)
	if !ok {
		t.Fatal("the beginning is gone")
	}
	next := uint64(1)
	for _, to := range []uint64{1, chunkSize - 1, chunkSize, chunkSize + 1, 5*chunkSize + 7} {
		appendRecords(h, next, to)
		for next <= to {
			records, ok := c.read(nil, 50, math.MaxUint64)
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
	h := newTestHistory(1 << 30)
	appendRecords(h, 1, 3*chunkSize)
	const floor = chunkSize + 9
	h.retention.expire(time.Unix(floor+1, 0)) // the first chunk and a part of the second are older
	if got := h.floor.Load(); got != floor {
		t.Errorf("floor %d, want %d", got, floor)
	}
	for version, there := range map[uint64]bool{0: false, chunkSize: false, floor - 1: false, floor: true, floor + 1: true, 2*chunkSize + 5: true, 3 * chunkSize: true, 9999: true} {
		c, ok := h.seek(version)
		if ok != there {
			t.Errorf("seek %d: %v, want %v", version, ok, there)
		}
		records, again := c.read(nil, 1, math.MaxUint64)
		if again != there {
			t.Errorf("read after %d: %v, want %v", version, again, there)
		}
		if want := version < 3*chunkSize; there && (len(records) == 1) != want {
			t.Errorf("after %d: %d records", version, len(records))
		} else if there && want && records[0].version != version+1 {
			t.Errorf("after %d comes %d", version, records[0].version)
		}
	}
}

// TestHistoryDropUnderCursor checks that a cursor reports that its next record was dropped, and
// retains no dropped records. A cursor past the dropped records continues.
func TestHistoryDropUnderCursor(t *testing.T) {
	h := newTestHistory(10 * 10)
	appendRecords(h, 1, 10)
	behind, _ := h.seek(0)
	ahead, _ := h.seek(0)
	if records, ok := behind.read(nil, 5, math.MaxUint64); !ok || len(records) != 5 {
		t.Fatal("the first records are missing")
	}
	if records, ok := ahead.read(nil, 50, math.MaxUint64); !ok || len(records) != 10 {
		t.Fatal("the first records are missing")
	}
	appendRecords(h, 11, 18)
	if records, ok := behind.read(nil, 5, math.MaxUint64); ok || len(records) != 0 {
		t.Errorf("%d records after a gap, %v", len(records), ok)
	}
	for to := uint64(20); to < 5*chunkSize; to += 8 {
		records, ok := ahead.read(nil, 50, math.MaxUint64)
		if !ok || len(records) == 0 {
			t.Fatalf("%d records, %v", len(records), ok)
		}
		appendRecords(h, records[len(records)-1].version+1, to)
	}
	if h.bytes.Load() != 100 || h.retention.bytes.Load() != 100 || len(*h.chunks.Load()) > 2 {
		t.Errorf("%d chunks of %d bytes stay", len(*h.chunks.Load()), h.bytes.Load())
	}
}

func TestRetentionIsShared(t *testing.T) {
	budget := newRetention(1000)
	quiet, busy, empty := newHistory(0, budget), newHistory(0, budget), newHistory(0, budget)
	put := func(h *history, version uint64, bytes int64) {
		budget.append(h, []*record{{version: version, object: &meta.Object{Version: version}, bytes: bytes}})
		if n := quiet.bytes.Load() + busy.bytes.Load(); n > 1000 || n != budget.bytes.Load() {
			t.Fatalf("%d bytes at version %d, %d counted", n, version, budget.bytes.Load())
		}
	}
	put(quiet, 1, 300)
	put(busy, 2, 300)
	put(quiet, 3, 300)
	put(busy, 4, 300)
	if quiet.floor.Load() != 1 || busy.floor.Load() != 0 {
		t.Fatalf("floors %d and %d, want 1 and 0", quiet.floor.Load(), busy.floor.Load())
	}
	for v := uint64(5); v < 300; v++ {
		put(busy, v, 7)
	}
	if quiet.floor.Load() != 3 || quiet.bytes.Load() != 0 || busy.bytes.Load() < 990 || empty.floor.Load() != 0 {
		t.Fatalf("floors %d and %d, %d and %d bytes", quiet.floor.Load(), busy.floor.Load(), quiet.bytes.Load(), busy.bytes.Load())
	}
	if c, ok := quiet.seek(3); !ok {
		t.Error("a cursor at the end of the quiet history must continue")
	} else if records, ok := c.read(nil, 10, math.MaxUint64); !ok || len(records) > 0 {
		t.Errorf("%d records of the quiet one, %v", len(records), ok)
	}
	put(quiet, 300, 5000)
	if budget.bytes.Load() != 0 || quiet.floor.Load() != 300 {
		t.Errorf("%d bytes of a change that is too large", budget.bytes.Load())
	}
	put(busy, 301, 900)
	budget.setLimit(500)
	if budget.bytes.Load() != 0 || busy.floor.Load() != 301 {
		t.Errorf("%d bytes stay in a smaller budget", budget.bytes.Load())
	}
}

// TestHistoryUnderReaders checks that a reader never misses a record without reporting an error
// while records are appended and dropped.
func TestHistoryUnderReaders(t *testing.T) {
	budget := newRetention(3000)
	histories := []*history{newHistory(0, budget), newHistory(0, budget)}
	var wait sync.WaitGroup
	const newest = 40_000
	for i, h := range histories {
		wait.Go(func() {
			for v := uint64(1 + i); v <= newest; v += 2 {
				budget.append(h, []*record{{version: v, object: &meta.Object{Version: v}, bytes: 10}})
			}
		})
		for range 2 {
			wait.Go(func() {
				c, _ := h.seek(0)
				for c.after < newest-1 {
					last := c.after
					records, ok := c.read(nil, 50, math.MaxUint64)
					for _, r := range records {
						if last > 0 && r.version != last+2 {
							t.Errorf("%d follows %d", r.version, last)
							return
						}
						last = r.version
					}
					for !ok {
						c, ok = h.seek(h.floor.Load())
					}
				}
			})
		}
	}
	wait.Wait()
}

func TestHistoryReadsUpToAVersion(t *testing.T) {
	h := newTestHistory(1 << 30)
	c, _ := h.seek(0)
	appendRecords(h, 1, 5)
	for _, newest := range []uint64{3, 3, 5} {
		after := c.after
		records, ok := c.read(nil, 50, newest)
		if !ok || uint64(len(records)) != newest-after || c.after != newest {
			t.Errorf("up to %d: %d records after %d, %v", newest, len(records), after, ok)
		}
	}
}
