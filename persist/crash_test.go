package persist

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/persist/vfs"
)

// TestTruncateAnywhere cuts a journal at every byte after a crash (invariant 21). Its header was
// marked before it was used.
func TestTruncateAnywhere(t *testing.T) {
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
	for cut := range len(whole) + 1 {
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
}

// flipSubject makes a small data directory with everything in it, with its older history or without.
func flipSubject(t *testing.T, keepFrom Revision) (*vfs.Mem, string) {
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.SegmentBytes = 500
	j, m := mustReopen(t, o)
	mustAppend(t, j, put("a", "1"), put("b", strings.Repeat("b", 90)))
	mustAppend(t, j, put("c", "3"))
	mustAppend(t, j, put("e", "4"))
	state := m.items()
	mustAppend(t, j, put("f", strings.Repeat("f", 500))) // begins a segment
	if err := j.Snapshot(4, keepFrom, state); err != nil {
		t.Fatal(err)
	}
	lone := make([]byte, 1300) // a sector that a single flip makes look unwritten
	lone[700] = 0x10
	mustAppend(t, j, Write{Key: "a", Delete: true, RevisionOffset: -1}, Write{Key: "zeros", Value: make([]byte, 300), RevisionOffset: 0})
	mustAppend(t, j, Write{Key: "d", Value: lone, RevisionOffset: -1, Metadata: []byte("n")})
	if err := j.SetLabel("naming", "platform"); err != nil {
		t.Fatal(err)
	}
	// No Close: the last batch is followed by what is reserved for more.
	return fs.Crash(nil), m.String()
}

// TestFlipEveryBit flips each bit of each file (invariant 22), or in a short run each seventeenth, which
// is of every place in a byte.
func TestFlipEveryBit(t *testing.T) {
	step := 17
	if os.Getenv("TROUPE_SOAK") != "" {
		step = 1
	}
	for _, keepFrom := range []Revision{1, 5} {
		subject, want := flipSubject(t, keepFrom)
		files := 0
		for n, path := range subject.Files() {
			first := n % step // files do not begin at the same place
			data := subject.Bytes(path)
			if strings.HasSuffix(path, controlFile) && keepFrom > 1 {
				continue // the first round has seen it
			}
			used := len(bytes.TrimRight(data, "\x00"))
			for bit := first; bit < 8*len(data); bit += step {
				data[bit/8] ^= 1 << (bit % 8)
				checkFlip(t, subject.Clone(), path, data, bit, want, keepFrom == 1 || bit/8 >= used || strings.HasSuffix(path, controlFile))
				data[bit/8] ^= 1 << (bit % 8)
			}
			files += min(len(data), 1)
		}
		if files < 6 {
			t.Errorf("%d files were flipped: %v", files, subject.Files())
		}
	}
}

// checkFlip opens a directory with one flipped bit. Where the journal still holds what a
// damaged snapshot held, the control file has another record, or nothing was, the log says so and the state is whole; else opening fails.
func checkFlip(t *testing.T, fs *vfs.Mem, path string, data []byte, bit int, want string, redundant bool) {
	t.Helper()
	fs.SetBytes(path, data)
	var log strings.Builder
	o := testOptions(fs)
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
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

// TestDamagedSnapshotFallsBack: without a newer snapshot the journal yields the state.
func TestDamagedSnapshotFallsBack(t *testing.T) {
	fs := vfs.NewMem()
	j, m := mustReopen(t, testOptions(fs))
	mustAppend(t, j, put("a", "1"), put("b", "2"))
	if err := j.Snapshot(2, 1, m.items()); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, j, put("c", "3"))
	mustClose(t, j)
	path := snapshotPath(testDir, 2)
	// Segment 1 is still there, as history since 1.
	data := fs.Bytes(path)
	data[len(data)/2] ^= 1
	fs.SetBytes(path, data)
	want := m.String()
	j, m = mustReopen(t, testOptions(fs))
	if m.String() != want || m.base != 0 {
		t.Fatalf("recovered\n%s from base %d, want\n%s", m, m.base, want)
	}
	mustAppend(t, j, put("d", "4"))
	if err := j.Snapshot(m.newest, m.newest, m.items()); err != nil {
		t.Fatal(err)
	}
	mustClose(t, j)
	j, _ = mustReopen(t, testOptions(fs))
	mustClose(t, j)
}

// A script is a run of appends, rotations, snapshots and labels that a crash may end anywhere.
// It answers the state that was acknowledged last, the one that was asked for but perhaps not
// reached, and the newest revision that anybody saw.
func crashWorkload(fs *vfs.Mem) (acked, pending string, seen Revision) {
	o := testOptions(fs)
	o.SegmentBytes = 900
	j, m, err := reopen(o)
	if err != nil {
		return "", "", 0
	}
	r := rand.New(rand.NewPCG(3, 3))
	for step := range 14 {
		acked, seen = m.String(), m.newest
		if step%5 == 4 {
			if err := j.Snapshot(m.newest, m.newest-min(3, m.newest), m.items()); err != nil {
				return acked, acked, seen
			}
			if err := j.SetLabel("step", fmt.Sprint(step)); err != nil {
				return acked, acked, seen
			}
			j.refillBallast()
			if err := errors.Join(j.writeWatermark(), j.Trim(m.newest)); err != nil {
				return acked, acked, seen
			}
			continue
		}
		batch := randomBatch(r, m)
		want, _ := expect(m, batch)
		if _, err := j.Append(batch); err != nil {
			return acked, render(want), seen
		}
	}
	return m.String(), m.String(), m.newest
}

// TestCrashEverywhere crashes at every operation (invariants 19, 20, 25, 2): once with all
// that is unsynced lost, then with parts of it kept.
func TestCrashEverywhere(t *testing.T) {
	count := vfs.NewMem()
	crashWorkload(count)
	total := count.Ops()
	if total < 60 {
		t.Fatalf("the script has only %d operations", total)
	}
	variants := uint64(2) // what a crash leaves of what was not synced: nothing, or some of it by chance
	if os.Getenv("TROUPE_SOAK") != "" {
		variants = 4
	}
	for at := 1; at <= total; at++ {
		for variant := range variants {
			var chance *rand.Rand
			if variant > 0 {
				chance = rand.New(rand.NewPCG(uint64(at), variant))
			}
			fs := vfs.NewMem()
			fs.SetFault(func(op vfs.Op) error {
				if op.N == at {
					return vfs.ErrCrashed
				}
				return nil
			})
			acked, pending, seen := crashWorkload(fs)
			checkAfterCrash(t, fmt.Sprintf("operation %d variant %d", at, variant), fs.Crash(chance), acked, pending, seen)
		}
	}
}

func checkAfterCrash(t *testing.T, name string, fs *vfs.Mem, acked, pending string, seen Revision) {
	t.Helper()
	j, m, err := reopen(testOptions(fs))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if got := m.String(); got != acked && got != pending {
		t.Fatalf("%s: recovered\n%s want\n%s or\n%s", name, got, acked, pending)
	}
	if m.newest < seen {
		t.Fatalf("%s: revision %d was seen, the log is back at %d", name, seen, m.newest)
	}
	mustAppend(t, j, put("after", "crash"))
	if err := j.Snapshot(m.newest, 0, m.items()); err != nil {
		t.Fatalf("%s: snapshot: %v", name, err)
	}
	want := m.String()
	j, m, err = reopen(testOptions(fs.Crash(nil)))
	if err != nil || m.String() != want {
		t.Fatalf("%s: second recovery: %v", name, err)
	}
	mustClose(t, j)
}

// TestFaultsEverywhere fails each operation once, without a crash: nothing acknowledged is
// lost, and followers never see what is not durable.
func TestFaultsEverywhere(t *testing.T) {
	count := vfs.NewMem()
	crashWorkload(count)
	for at := 1; at <= count.Ops(); at++ {
		fs := vfs.NewMem()
		fs.SetFault(func(op vfs.Op) error {
			if op.N == at {
				return errors.New("input/output error")
			}
			return nil
		})
		acked, pending, seen := crashWorkload(fs)
		checkAfterCrash(t, fmt.Sprintf("operation %d", at), fs.Crash(nil), acked, pending, seen)
	}
}

// FuzzSegment: any bytes as a segment neither panic nor are taken for commits unseen.
func FuzzSegment(f *testing.F) {
	fs := vfs.NewMem()
	j, m := mustReopen(f, testOptions(fs))
	mustAppend(f, j, put("a", "1"), put("b", "2"))
	_ = m
	mustClose(f, j)
	path := testDir + "/journal/" + fileName(1, segmentSuffix)
	whole := fs.Bytes(path)
	f.Add(whole)
	f.Add(whole[:100])
	f.Add([]byte{})
	huge := append([]byte{}, whole...)
	putHeader(huge[segmentHeader:], frame{segment: 1, offset: 64, first: 1, last: 1 << 31, count: 1 << 31, payload: maxPayload})
	f.Add(huge)
	short := append([]byte{}, whole...)
	putHeader(short[segmentHeader:], frame{segment: 1, offset: 64, first: 1, last: 2, count: 2, payload: 1})
	f.Add(short)
	f.Fuzz(func(t *testing.T, data []byte) {
		c := fs.Clone()
		c.SetBytes(path, data)
		if j, _, err := reopen(testOptions(c)); err == nil {
			mustClose(t, j)
		}
	})
}

// FuzzRecords: any payload decodes or is refused.
func FuzzRecords(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 1, 'k', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Add(appendRecord(nil, &Commit{Key: "k", Value: []byte("v"), Metadata: []byte("n"), Delete: true}))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = decodeRecords(frame{first: 1, last: 2, count: 2}, data, func(Commit) error { return nil })
	})
}

// FuzzManifest: any bytes as a manifest are refused or fit together.
func FuzzManifest(f *testing.F) {
	good, err := encodeChecksummed(manifest{Format: 1, Revision: 3, Bytes: 300, Block: 256, Sums: strings.Repeat("0", 16)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	body := "{\"format\":1,\"revision\":3,\"bytes\":9223372036854775807,\"block\":1}\n"
	f.Add([]byte(body + checksumLine([]byte(body))))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest("m", data)
		if err == nil && int64(len(m.Sums)/8)*m.Block < m.Bytes {
			t.Errorf("checksums for %d blocks of %d do not cover %d bytes", len(m.Sums)/8, m.Block, m.Bytes)
		}
	})
}
