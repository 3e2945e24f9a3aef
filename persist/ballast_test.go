package persist

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

func fill(t *testing.T, j *Journal) (n int) {
	t.Helper()
	for ; n < 1000; n++ {
		_, err := j.Append([]Write{put(fmt.Sprint("k", n%5), strings.Repeat("x", 30_000))})
		if errors.Is(err, ErrNoSpace) {
			return n
		}
		must.Succeed(t, err)
	}
	t.Fatal("the disk is never full")
	return n
}

// TestFullDiskHeals fills a disk with journals of various lengths. Deletes must always succeed, and
// a snapshot written into the ballast's space must free more.
func TestFullDiskHeals(t *testing.T) {
	step := int64(1_902_000)
	if soak {
		step = 317_000
	}
	for room := int64(4 << 20); room < 6<<20; room += step {
		for _, segment := range []int64{1 << 20, 64 << 20} {
			fs := vfs.NewMem()
			var log bytes.Buffer
			o := testOptions(fs)
			o.SegmentBytes, o.Logger = segment, slog.New(slog.NewTextHandler(&log, nil))
			fs.SetBudget(room)
			j, m := mustReopen(t, o)
			j.refillBallast()
			before := fill(t, j)
			checkOnlyDeletes(t, j)
			for range 5 {
				if !j.Stats().Full {
					t.Fatal("it is not reported that the disk is full")
				}
				j.refillBallast() // normally runs periodically
			}
			if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
				t.Errorf("%d lines of the log\n%s", n, log.String())
			}
			err := j.Snapshot(m.newest, 0, m.items())
			if errors.Is(err, ErrSpaceReleased) {
				err = j.Snapshot(m.newest, 0, m.items())
			}
			if err != nil {
				t.Fatalf("room %d: snapshot on the full disk: %v", room, err)
			}
			if err := j.Trim(^Revision(0)); err != nil {
				t.Fatalf("room %d: trim on the full disk: %v", room, err)
			}
			j.refillBallast()
			if s := j.Stats(); s.Full || s.JournalBytes > 1000 || j.ballast.size < minBallast+ballastRounding {
				t.Fatalf("room %d: not healed: %+v, ballast %d", room, s, j.ballast.size)
			}
			if after := fill(t, j); after < before/2 {
				t.Errorf("room for %d writes, was for %d", after, before)
			}
			want := m.String()
			j, m = mustReopen(t, testOptions(fs.Crash(nil)))
			if m.String() != want {
				t.Fatalf("room %d: after a crash another state", room)
			}
			mustClose(t, j)
		}
	}
}

func checkOnlyDeletes(t *testing.T, j *Journal) {
	t.Helper()
	gone := Write{Key: "k0", Value: []byte("last"), RevisionOffset: -1, Delete: true, FreesSpace: true}
	for range 100 {
		for _, batch := range [][]Write{{put("new", "1")}, {gone, put("new", "1")}} {
			if _, err := j.Append(batch); !errors.Is(err, ErrNoSpace) {
				t.Fatalf("%d writes on a full disk: %v", len(batch), err)
			}
		}
		if _, err := j.Append([]Write{gone}); err != nil {
			t.Fatalf("a delete on a full disk: %v", err)
		}
	}
}

func TestBallastIsOptional(t *testing.T) {
	for _, cause := range []error{errors.ErrUnsupported, syscall.EIO, syscall.ENOSPC} {
		fs := vfs.NewMem()
		fs.SetFault(failOn("allocate", cause))
		j, _ := mustReopen(t, testOptions(fs))
		for range 3 {
			j.refillBallast()
			mustAppend(t, j, put("a", "1"))
		}
		mustClose(t, j)
	}
}

// TestSmallDisk checks that a disk too small for the next snapshot still accepts writes.
func TestSmallDisk(t *testing.T) {
	fs := vfs.NewMem()
	j, _ := mustReopen(t, testOptions(fs))
	fs.SetBudget(fs.Used() + minBallast + 4*ballastStep)
	j.refillBallast()
	mustAppend(t, j, put("a", "1"))
	if s := j.Stats(); s.Full || j.ballast.size != minBallast {
		t.Errorf("full %t, ballast %d", s.Full, j.ballast.size)
	}
	mustClose(t, j)
}
