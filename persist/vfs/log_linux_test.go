package vfs

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

func newLog(t *testing.T) (path string, file File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "log")
	created, err := OS{}.Create(path)
	if err == nil {
		err = created.Close()
	}
	if err == nil {
		file, err = OS{}.OpenLog(path)
	}
	must.Succeed(t, err)
	return path, file
}

func checkLog(t *testing.T, path string, want []byte) {
	t.Helper()
	got := must.Get(os.ReadFile(path))(t)
	if len(got) < len(want) || !bytes.Equal(got[:len(want)], want) || len(bytes.Trim(got[len(want):], "\x00")) > 0 {
		t.Fatalf("the file holds something else than the %d bytes that were written", len(want))
	}
	if behind := len(got) - len(want); behind >= 2*blockSize {
		t.Fatalf("%d bytes follow what was written", behind)
	}
}

// TestLogRecordsWrites checks a log's content after writes of all sizes, with or without zero
// padding, and after truncations and reopens.
func TestLogRecordsWrites(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	path, file := newLog(t)
	var want []byte
	for range 400 {
		b := make([]byte, 1+r.IntN([]int{100, 5000, 30000}[r.IntN(3)]))
		for i := range b {
			b[i] = byte(1 + r.IntN(255))
		}
		padded := append(bytes.Clone(b), make([]byte, r.IntN(2)*r.IntN(blockSize))...)
		must.Get(file.WriteAt(padded, int64(len(want))))(t)
		must.Succeed(t, file.Sync())
		want = append(want, b...)
		checkLog(t, path, want)
		var err error
		switch r.IntN(10) {
		case 0:
			err = file.Truncate(int64(len(want)))
		case 1:
			if err = file.Close(); err == nil {
				file, err = OS{}.OpenLog(path)
			}
		}
		must.Succeed(t, err)
	}
	must.Succeed(t, file.Close())
}

// TestLogWithoutDirectWrites checks that a log falls back to ordinary writes if a file system
// accepts O_DIRECT but rejects direct writes. An unaligned buffer makes direct writes fail.
func TestLogWithoutDirectWrites(t *testing.T) {
	path, file := newLog(t)
	log, ok := file.(*logFile)
	if !ok {
		return // this file system has no direct writes
	}
	want := bytes.Repeat([]byte("a"), 5000)
	must.Get(file.WriteAt(want, 0))(t)
	log.buf = log.buf[1:] // no longer aligned
	for range 2 {
		more := bytes.Repeat([]byte("b"), 3000)
		must.Get(file.WriteAt(more, int64(len(want))))(t)
		want = append(want, more...)
		must.Succeed(t, file.Sync())
		checkLog(t, path, want)
	}
	if log.direct != nil {
		t.Error("it still writes directly")
	}
	must.Succeed(t, file.Close())
}

func TestZero(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	must.Succeed(t, os.WriteFile(path, bytes.Repeat([]byte{7}, 3*blockSize), 0o600))
	f := must.Get(OS{}.OpenLog(path))(t)
	defer f.Close()
	want := slices.Concat(bytes.Repeat([]byte{7}, 100), make([]byte, 3*blockSize-100))
	if err := f.Zero(100, 3*blockSize); errors.Is(err, errors.ErrUnsupported) {
		t.Log("this file system makes no holes")
		want = bytes.Repeat([]byte{7}, 3*blockSize)
	} else if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
