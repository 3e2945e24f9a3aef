package persist

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

func TestSnapshotParts(t *testing.T) {
	fs := vfs.NewMem()
	must.Succeed(t, fs.MkdirAll(snapshotsDir(testDir)))
	const items, size, at = 40, 512 << 10, 100
	item := func(i int) Item {
		return Item{Key: fmt.Sprintf("k-%02d", i), Value: bytes.Repeat([]byte{byte(i)}, size), Revision: Revision(i + 1)}
	}
	m, err := putSnapshot(fs, testDir, at, func(yield func(Item) bool) error {
		for i := 0; i < items && yield(item(i)); i++ {
		}
		return nil
	}, func(*manifest) error { return nil })
	if err != nil || len(m.Parts) != 2 {
		t.Fatalf("%d MiB have the parts %v: %v", m.Bytes>>20, m.Parts, err)
	}
	read := func() (have int, err error) {
		parts, _, err := loadParts(fs, testDir, at)
		if err != nil {
			return 0, err
		}
		err = parts.each(func(i Item) error {
			if want := item(have); i.Key != want.Key || i.Revision != want.Revision || !bytes.Equal(i.Value, want.Value) {
				t.Errorf("item %d is %q at %d", have, i.Key, i.Revision)
			}
			have++
			return nil
		})
		return have, errors.Join(err, parts.Close())
	}
	if n, err := read(); n != items || err != nil {
		t.Errorf("%d items are read: %v", n, err)
	}
	path := snapshotPath(testDir, at)
	data := fs.Bytes(path)
	for _, offset := range []int64{0, m.Parts[0], m.Parts[1] - 1, m.Bytes - 1} {
		damaged := slices.Clone(data)
		damaged[offset] ^= 1
		fs.SetBytes(path, damaged)
		var fault *CorruptError
		if n, err := read(); !errors.As(err, &fault) || n != 0 || fault.Offset != offset-offset%blockBytes {
			t.Errorf("a bit at %d of %d: %d items are read, %v", offset, m.Bytes, n, err)
		}
	}
	fs.SetBytes(path, data)
	m.Items++
	must.Succeed(t, writeChecksummed(fs, manifestPath(testDir, at), m))
	if _, err := read(); !strings.Contains(fmt.Sprint(err), "40 items instead of 41") {
		t.Errorf("with an item too few: %v", err)
	}
}

func TestManifestParts(t *testing.T) {
	for _, test := range []struct {
		parts []int64
		whole bool
	}{
		{nil, true}, {[]int64{1}, true}, {[]int64{3, 9}, true},
		{[]int64{0}, false}, {[]int64{-1}, false}, {[]int64{10}, false}, {[]int64{3, 3}, false}, {[]int64{5, 4}, false},
	} {
		fs := vfs.NewMem()
		must.Succeed(t, fs.MkdirAll(snapshotsDir(testDir)))
		m := manifest{Format: formatVersion, Revision: 1, Block: blockBytes, Bytes: 10, Sums: "00000000", Parts: test.parts}
		must.Succeed(t, writeChecksummed(fs, manifestPath(testDir, 1), m))
		var fault *CorruptError
		if _, err := readManifest(fs, testDir, 1); (err == nil) != test.whole || err != nil && !errors.As(err, &fault) {
			t.Errorf("%v: %v", test.parts, err)
		}
	}
}
