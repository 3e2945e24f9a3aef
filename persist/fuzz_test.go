package persist

import (
	"bytes"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

// FuzzSegment checks that arbitrary bytes in a segment neither panic nor are read as commits.
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

func FuzzRecords(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 1, 'k', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Add(appendRecord(nil, &Commit{Key: "k", Value: []byte("v"), Metadata: []byte("n"), Delete: true}, (&Journal{}).encodeAppend))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = decodeRecords(frame{first: 1, last: 2, count: 2}, data, func(Commit) error { return nil })
	})
}

func FuzzManifest(f *testing.F) {
	good := must.Get(encodeChecksummed(manifest{Format: 1, Revision: 3, Bytes: 300, Block: 256, Sums: strings.Repeat("0", 16)}))(f)
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

// FuzzBackup checks that any backup is rejected or restored to a directory that can be opened.
func FuzzBackup(f *testing.F) {
	_, backup := smallBackup(f)
	f.Add(backup)
	f.Add(backup[:len(backup)/2])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		o := testOptions(vfs.NewMem())
		_, checked := CheckBackup(bytes.NewReader(data))
		_, err := restore(testDir, Source{Backup: bytes.NewReader(data)}, o)
		if checked == nil && err != nil {
			t.Fatalf("a backup that was found whole is refused: %v", err)
		}
		if err != nil {
			return
		}
		j, _ := mustReopen(t, o)
		mustClose(t, j)
	})
}
