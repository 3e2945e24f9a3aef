package persist

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

// TestTruncateAnywhere truncates a journal at every byte after a crash. Open must recover the state
// after a whole number of batches. If even the segment header is incomplete, it must report data
// loss, because the watermark covers the header. A short run truncates only around frame boundaries
// and at every 31st byte.
func TestTruncateAnywhere(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.SegmentBytes = 1 << 20
	j, m := mustReopen(t, o)
	states := map[string]bool{m.String(): true}
	r := rand.New(rand.NewPCG(7, 7))
	for range 8 {
		mustAppend(t, j, randomBatch(r, m)...)
		states[m.String()] = true
	}
	fs = fs.Crash(nil)
	path := testDir + "/journal/" + fileName(1, segmentSuffix)
	whole := fs.Bytes(path)
	cuts := 0
	for cut := range len(whole) + 1 {
		if near := (cut + 1) % frameAlign; !soak && near > 2 && cut%31 != 0 {
			continue
		}
		cuts++
		o.FS = fs.Clone()
		o.FS.(*vfs.Mem).SetBytes(path, whole[:cut])
		j, m, err := reopen(o)
		if cut < segmentHeader && errors.Is(err, ErrDataLoss) {
			continue
		}
		if err != nil || cut < segmentHeader {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if !states[m.String()] {
			t.Fatalf("cut at %d opens with part of a batch:\n%s", cut, m)
		}
		mustAppend(t, j, put("after", "1"))
		want := m.String()
		mustClose(t, j)
		j, m = mustReopen(t, o)
		if m.String() != want {
			t.Fatalf("cut at %d: a write after it is lost", cut)
		}
		mustClose(t, j)
	}
	t.Logf("tried: a journal cut at %d of its %d bytes", cuts, len(whole))
}

// flipSubject creates a small data directory with every kind of content. keepFrom is the oldest
// revision kept in the history.
func flipSubject(t *testing.T, keepFrom Revision, with Transformer) (*vfs.Mem, string) {
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.Transformer = with
	o.SegmentBytes = 500
	j, m := mustReopen(t, o)
	mustAppend(t, j, put("a", "1"), put("b", strings.Repeat("b", 90)))
	mustAppend(t, j, put("c", "3"))
	mustAppend(t, j, put("e", "4"))
	state := m.items()
	mustAppend(t, j, put("f", strings.Repeat("f", 500))) // begins a new segment
	must.Succeed(t, j.Snapshot(4, keepFrom, state))
	lone := make([]byte, 1300) // one flipped bit makes a sector look unwritten
	lone[700] = 0x10
	mustAppend(t, j, Write{Key: "a", Delete: true, RevisionOffset: -1}, Write{Key: "zeros", Value: make([]byte, 300), RevisionOffset: 0})
	mustAppend(t, j, Write{Key: "d", Value: lone, RevisionOffset: -1, Metadata: []byte("n")})
	must.Succeed(t, j.SetLabel("naming", "platform"))
	// The journal is not closed, so that the zero padding still follows the last batch.
	return fs.Crash(nil), m.String()
}

// TestFlipEveryBit flips each bit of each file. A short run flips every 17th bit, without a
// Transformer. Each flip must be reported, and must neither change a value nor lose later values.
func TestFlipEveryBit(t *testing.T) {
	t.Parallel()
	if !soak {
		flipBits(t, 17, nil)
		return
	}
	flipBits(t, 1, nil)
	flipBits(t, 1, placeMarker{})
}

func flipBits(t *testing.T, step int, with Transformer) {
	t.Helper()
	flips := 0
	for _, keepFrom := range []Revision{1, 5} {
		subject, want := flipSubject(t, keepFrom, with)
		files := 0
		for n, path := range subject.Files() {
			first := n % step // starts at another bit in each file
			data := subject.Bytes(path)
			if strings.HasSuffix(path, controlFile) && keepFrom > 1 {
				continue // covered by the first round
			}
			used := len(bytes.TrimRight(data, "\x00"))
			for bit := first; bit < 8*len(data); bit += step {
				data[bit/8] ^= 1 << (bit % 8)
				checkFlip(t, subject.Clone(), with, path, data, bit, want, keepFrom == 1 || bit/8 >= used || strings.HasSuffix(path, controlFile))
				data[bit/8] ^= 1 << (bit % 8)
				flips++
			}
			files += min(len(data), 1)
		}
		if files < 6 {
			t.Errorf("%d files were flipped: %v", files, subject.Files())
		}
	}
	t.Logf("tried: %d bits flipped, one at a time", flips)
}

// checkFlip opens a directory in which one bit is flipped. If the damaged data is redundant or
// unimportant, Open must recover the complete state and log the damage. Otherwise, it must fail.
func checkFlip(t *testing.T, fs *vfs.Mem, with Transformer, path string, data []byte, bit int, want string, redundant bool) {
	t.Helper()
	fs.SetBytes(path, data)
	var log strings.Builder
	o := testOptions(fs)
	o.Logger, o.Transformer = slog.New(slog.NewTextHandler(&log, nil)), with
	j, m, err := reopen(o)
	name := fmt.Sprintf("%s: bit %d of byte %d", path, bit%8, bit/8)
	if err == nil {
		mustClose(t, j)
		if !redundant || m.String() != want || !strings.Contains(log.String(), path) {
			t.Fatalf("%s flipped unseen", name)
		}
		return
	}
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), path) {
		t.Fatalf("%s: the error does not name it: %v", name, err)
	}
	if corrupt.File == path && corrupt.Offset > int64(bit/8) {
		t.Fatalf("%s: the error names a later offset: %v", name, err)
	}
}
