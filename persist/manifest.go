package persist

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/troupe-api/troupe/persist/vfs"
)

const (
	manifestSuffix = ".manifest"
	snapshotSuffix = ".buntdb"
	blockBytes     = 256 << 10
)

// A manifest contains the checksums of one snapshot file. It is written once the file is durable. A
// snapshot without a manifest is ignored.
type manifest struct {
	Format   int      `json:"format"`
	Revision Revision `json:"revision"` // of the state
	Time     int64    `json:"time"`     // Unix nanoseconds
	Items    int64    `json:"items"`
	Bytes    int64    `json:"bytes"` // length of the file
	Block    int64    `json:"block"` // bytes per checksum; the last block is shorter
	Sums     string   `json:"sums"`  // CRC-32C of each block, 8 hexadecimal digits each
	// Parts lists the start offsets of all parts except the first, in ascending order. Each part is
	// a complete BuntDB file, so that parts can be read in parallel. Without Parts, the file is one
	// part.
	Parts []int64 `json:"parts,omitempty"`
	// Origin identifies the source of a LocalCopy (CopiedState.Origin).
	Origin json.RawMessage `json:"origin,omitempty"`
}

func manifestPath(dir string, at Revision) string {
	return filepath.Join(snapshotsDir(dir), fileName(at, manifestSuffix))
}

func snapshotPath(dir string, at Revision) string {
	return filepath.Join(snapshotsDir(dir), fileName(at, snapshotSuffix))
}

// readManifest reads the manifest of the snapshot at a revision. It rejects a renamed manifest,
// because its snapshot would be used at the wrong revision.
func readManifest(fs vfs.FS, dir string, at Revision) (manifest, error) {
	path := manifestPath(dir, at)
	data, err := readFile(fs, path)
	if err != nil {
		return manifest{}, err
	}
	m, err := parseManifest(path, data)
	if err == nil && m.Revision != at {
		err = &CorruptError{File: path, What: fmt.Sprintf("it names revision %d", m.Revision)}
	}
	return m, err
}

// parseManifest verifies and decodes a manifest. It does not report an unknown format as damage,
// because a newer version may have written it.
func parseManifest(path string, data []byte) (manifest, error) {
	var m manifest
	if err := decodeChecksummed(path, data, &m); err != nil {
		return m, err
	}
	blocks := int64(len(m.Sums) / 8)
	switch {
	case m.Format != formatVersion:
		return m, errFormat(path, m.Format, formatVersion)
	case m.Block <= 0 || m.Block > blockBytes || m.Bytes < 0 || m.Items < 0 || len(m.Sums)%8 != 0,
		blocks != m.Bytes/m.Block+min(1, m.Bytes%m.Block):
		return m, &CorruptError{File: path, What: "its lengths are inconsistent"}
	}
	for i, begin := 0, int64(0); i < len(m.Parts); i, begin = i+1, m.Parts[i] {
		if m.Parts[i] <= begin || m.Parts[i] >= m.Bytes {
			return m, &CorruptError{File: path, What: "its parts are inconsistent"}
		}
	}
	return m, nil
}

// A blockReader reads a snapshot file in blocks. It returns only bytes with correct checksums.
type blockReader struct {
	path string
	file io.ReaderAt
	m    manifest
	at   int64 // offset of the next block
	buf  []byte
	left []byte // unread bytes of the current block
}

func openSnapshot(fs vfs.FS, path string, m manifest) (*blockReader, io.Closer, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, nil, err
	}
	size, err := f.Size()
	if err == nil && size != m.Bytes {
		err = &CorruptError{File: path, Offset: min(size, m.Bytes), What: fmt.Sprintf("%d bytes long instead of %d", size, m.Bytes)}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return &blockReader{path: path, file: f, m: m}, f, nil
}

func (r *blockReader) part(from, to int64) (io.Reader, error) {
	own := &blockReader{path: r.path, file: r.file, m: r.m, at: from - from%r.m.Block}
	_, err := io.CopyN(io.Discard, own, from-own.at)
	return io.LimitReader(own, to-from), err
}

func (r *blockReader) Read(b []byte) (int, error) {
	if len(r.left) == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, r.left)
	r.left = r.left[n:]
	return n, nil
}

func (r *blockReader) next() error {
	n := min(r.m.Block, r.m.Bytes-r.at)
	if n == 0 {
		return io.EOF
	}
	if r.buf == nil {
		r.buf = make([]byte, n)
	}
	block := r.buf[:n]
	if _, err := r.file.ReadAt(block, r.at); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	i := r.at / r.m.Block * 8
	var want [4]byte
	if _, err := hex.Decode(want[:], []byte(r.m.Sums[i:i+8])); err != nil {
		return &CorruptError{File: r.path, Offset: r.at, What: "the manifest's checksum of a block does not decode"}
	}
	if le.Uint32(want[:]) != checksum(block) {
		return &CorruptError{File: r.path, Offset: r.at, What: fmt.Sprintf("a block of %d bytes has a wrong checksum", n)}
	}
	r.at += n
	r.left = block
	return nil
}

// A blockWriter writes a snapshot file in whole blocks and collects their checksums for the
// manifest.
type blockWriter struct {
	file vfs.File
	at   int64
	buf  []byte
	sums []byte
}

func (w *blockWriter) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		n := min(len(rest), blockBytes-len(w.buf))
		w.buf = append(w.buf, rest[:n]...)
		rest = rest[n:]
		if len(w.buf) == blockBytes {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(b), nil
}

func (w *blockWriter) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	if _, err := w.file.WriteAt(w.buf, w.at); err != nil {
		return err
	}
	w.at += int64(len(w.buf))
	w.sums = le.AppendUint32(w.sums, checksum(w.buf))
	w.buf = w.buf[:0]
	return nil
}
