package persist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/tidwall/buntdb"

	"github.com/troupe-api/troupe/persist/vfs"
)

// revisionBytes is the size of the little-endian revision before each value of a snapshot.
const revisionBytes = 8

// chunkBytes limits how many bytes of a snapshot are buffered before they are written. partBytes is
// the minimum size of each part except the last.
const (
	chunkBytes = 1 << 20
	partBytes  = 8 << 20
)

// Snapshot implements Log. It runs concurrently with Append, so items must iterate over a state
// that does not change. If the disk is full, Snapshot frees space by deleting the archive or the
// ballast, and returns ErrSpaceReleased.
func (j *Journal) Snapshot(at, keepFrom Revision, items func(yield func(Item) bool) error) error {
	j.filesMu.Lock()
	defer j.filesMu.Unlock()
	mark, skip, err := j.beginSnapshot(at)
	if err != nil {
		return err
	}
	if !skip {
		m, err := j.writeSnapshot(at, items)
		if isFull(err) && (j.dropArchive() || j.releaseBallast(minBallast)) {
			return fmt.Errorf("snapshot at revision %d: %w: %w", at, ErrSpaceReleased, err)
		}
		if isFull(err) {
			j.setDiskFull("no space for a snapshot")
		}
		if err != nil {
			return noSpace(fmt.Errorf("snapshot at revision %d: %w", at, err))
		}
		j.inventory.mu.Lock()
		j.inventory.base, j.inventory.hasBase = at, true
		j.inventory.stats.SinceSnapshot -= mark
		j.inventory.stats.SnapshotBytes, j.inventory.stats.Snapshots = m.Bytes, 1
		j.inventory.mu.Unlock()
	}
	return j.removeObsolete(at, keepFrom)
}

// beginSnapshot makes the next batch start a new segment, so that earlier segments can be dropped
// later. skip means that the snapshot already exists.
func (j *Journal) beginSnapshot(at Revision) (mark int64, skip bool, err error) {
	if err := j.status.check(); err != nil {
		return 0, false, err
	}
	j.inventory.mu.Lock()
	defer j.inventory.mu.Unlock()
	if at < j.inventory.base || at > j.inventory.newest {
		return 0, false, fmt.Errorf("no snapshot at revision %d between the last one at %d and the newest revision %d", at, j.inventory.base, j.inventory.newest)
	}
	skip = at == 0 || j.inventory.hasBase && at == j.inventory.base
	j.inventory.rotate = j.inventory.rotate || !skip
	return j.inventory.stats.SinceSnapshot, skip, nil
}

func (j *Journal) writeSnapshot(at Revision, items func(yield func(Item) bool) error) (manifest, error) {
	return putSnapshot(j.fs, j.dir, at, j.encodeItems(items), func(m *manifest) error {
		m.Time = j.o.Now().UnixNano()
		return nil
	})
}

// putSnapshot writes a snapshot. It makes the snapshot file durable before it writes the manifest.
// complete sets the remaining fields of the manifest, or returns an error if the items are
// incomplete.
func putSnapshot(fs vfs.FS, dir string, at Revision, items func(yield func(Item) bool) error, complete func(*manifest) error) (manifest, error) {
	if err := removeSnapshot(fs, dir, at); err != nil {
		return manifest{}, err
	}
	m, err := writeItems(fs, snapshotPath(dir, at), at, items)
	if err == nil {
		err = complete(&m)
	}
	if err != nil {
		return m, errors.Join(err, removeIfThere(fs, snapshotPath(dir, at)))
	}
	return m, publishSnapshot(fs, dir, m)
}

// publishSnapshot writes the manifest of a durable snapshot file. It first reads the file back to
// verify the checksums, because older data is deleted afterwards.
func publishSnapshot(fs vfs.FS, dir string, m manifest) error {
	if err := fs.SyncDir(snapshotsDir(dir)); err != nil {
		return err
	}
	r, file, err := openSnapshot(fs, snapshotPath(dir, m.Revision), m)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return writeChecksummed(fs, manifestPath(dir, m.Revision), m)
}

func writeItems(fs vfs.FS, path string, at Revision, items func(yield func(Item) bool) error) (manifest, error) {
	m := manifest{Format: formatVersion, Revision: at, Block: blockBytes}
	file, err := fs.Create(path)
	if err != nil {
		return m, err
	}
	db, err := openMemory()
	if err != nil {
		return m, errors.Join(err, file.Close())
	}
	w := &snapshotWriter{db: db, out: blockWriter{file: file}, at: at}
	if err = items(w.add); err == nil || w.err != nil {
		err = w.finish()
	}
	m.Items, m.Bytes, m.Sums, m.Parts = w.items, w.out.at, sumsText(w.out.sums), w.parts
	return m, errors.Join(err, db.Close(), file.Close())
}

// sumsText encodes each checksum in little-endian order, so that 0x12345678 is "78563412".
func sumsText(sums []byte) string {
	var b strings.Builder
	for i := 0; i < len(sums); i += 4 {
		fmt.Fprintf(&b, "%x", sums[i:i+4])
	}
	return b.String()
}

func openMemory() (*buntdb.DB, error) {
	db, err := buntdb.Open(":memory:")
	if err != nil {
		return nil, err
	}
	err = db.SetConfig(buntdb.Config{SyncPolicy: buntdb.Never, AutoShrinkDisabled: true})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// A snapshotWriter encodes the items with BuntDB, one chunk at a time. The concatenated chunks are
// a valid BuntDB file.
type snapshotWriter struct {
	db     *buntdb.DB
	out    blockWriter
	at     Revision
	chunk  []buntPair
	bytes  int
	items  int64
	newest string // the previous key
	parts  []int64
	err    error
}

type buntPair struct{ key, value string }

// add adds an item and reports whether the caller may continue. It requires ascending keys, because
// BuntDB would merge items with the same key and the manifest's item count would be wrong.
func (w *snapshotWriter) add(item Item) bool {
	if w.items > 0 && item.Key <= w.newest {
		w.err = fmt.Errorf("key %q follows %q: keys must ascend", item.Key, w.newest)
	}
	if item.Revision == 0 || item.Revision > w.at {
		w.err = fmt.Errorf("key %q has revision %d in a state at %d", item.Key, item.Revision, w.at)
	}
	if w.err != nil {
		return false
	}
	value := make([]byte, revisionBytes, revisionBytes+len(item.Value))
	le.PutUint64(value, uint64(item.Revision))
	w.chunk = append(w.chunk, buntPair{item.Key, textOf(append(value, item.Value...))})
	w.bytes += len(item.Value)
	w.newest = item.Key
	w.items++
	if w.bytes >= chunkBytes {
		w.err = w.save()
	}
	return w.err == nil
}

// save writes the buffered chunk. It does not call the caller's iterator inside the BuntDB
// transaction, because BuntDB partially commits a transaction that panics.
func (w *snapshotWriter) save() error {
	w.beginPart()
	err := w.db.Update(func(tx *buntdb.Tx) error {
		for _, p := range w.chunk {
			if _, _, err := tx.Set(p.key, p.value, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = w.db.Save(&w.out)
	}
	if err == nil {
		err = w.db.Update(func(tx *buntdb.Tx) error { return tx.DeleteAll() })
	}
	clear(w.chunk)
	w.chunk, w.bytes = w.chunk[:0], 0
	return err
}

func (w *snapshotWriter) beginPart() {
	var begin int64
	if n := len(w.parts); n > 0 {
		begin = w.parts[n-1]
	}
	if at := w.out.at + int64(len(w.out.buf)); at-begin >= partBytes && len(w.chunk) > 0 {
		w.parts = append(w.parts, at)
	}
}

func (w *snapshotWriter) finish() error {
	if w.err == nil {
		w.err = w.save()
	}
	if w.err == nil {
		w.err = w.out.flush()
	}
	if w.err == nil {
		w.err = w.out.file.Sync()
	}
	return w.err
}

func loadSnapshot(fs vfs.FS, dir string, at Revision) (db *buntdb.DB, m manifest, err error) {
	if m, err = readManifest(fs, dir, at); err != nil {
		return nil, m, err
	}
	r, file, err := openSnapshot(fs, snapshotPath(dir, at), m)
	if err != nil {
		return nil, m, err
	}
	db, err = loadItems(r, m.Items, r.path)
	return db, m, errors.Join(err, file.Close())
}

func loadItems(r io.Reader, items int64, path string) (*buntdb.DB, error) {
	db, err := loadMemory(r)
	if err != nil {
		return nil, err
	}
	if have := itemCount(db); have != items {
		return nil, errors.Join(errItemCount(path, have, items), db.Close())
	}
	return db, nil
}

func loadMemory(r io.Reader) (*buntdb.DB, error) {
	db, err := openMemory()
	if err != nil {
		return nil, err
	}
	if err := db.Load(r); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func itemCount(db *buntdb.DB) (items int64) {
	if db == nil {
		return 0
	}
	_ = db.View(func(tx *buntdb.Tx) error { // fails only if it is closed
		n, err := tx.Len()
		items = int64(n)
		return err
	})
	return items
}

func eachItem(db *buntdb.DB, fn func(Item) error) error {
	return db.View(func(tx *buntdb.Tx) error {
		var failed error
		err := tx.Ascend("", func(key, value string) bool {
			if len(value) < revisionBytes {
				failed = fmt.Errorf("the value of %q is too short in a snapshot", key)
				return false
			}
			b := bytesOf(value)
			failed = fn(Item{Key: key, Value: b[revisionBytes:], Revision: Revision(le.Uint64(b))})
			return failed == nil
		})
		return errors.Join(err, failed)
	})
}

// bytesOf and textOf convert values without copying. This is safe, because committed values never
// change.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func (j *Journal) removeObsolete(at, keepFrom Revision) error {
	if err := removeOldSnapshots(j.fs, j.dir, at); err != nil {
		return err
	}
	for {
		j.inventory.mu.Lock()
		var oldest segment
		due := len(j.inventory.segments) > 1
		if due {
			oldest = j.inventory.segments[0]
			last := j.inventory.segments[1].first - 1
			due = last <= at && last < keepFrom
		}
		j.inventory.mu.Unlock()
		if due = due && j.watermarkPassed(oldest); !due {
			return nil
		}
		// Retire one segment at a time, because a crash must not leave a gap between segments.
		if err := j.retire(oldest); err != nil {
			return err
		}
		j.inventory.mu.Lock()
		j.inventory.segments = j.inventory.segments[1:]
		j.inventory.mu.Unlock()
	}
}

func removeOldSnapshots(fs vfs.FS, dir string, keep Revision) error {
	names, err := fs.ReadDir(snapshotsDir(dir))
	if err != nil {
		return err
	}
	for _, name := range names {
		at, ok := parseName(name, manifestSuffix)
		if ok && at != keep {
			if err := removeSnapshot(fs, dir, at); err != nil {
				return err
			}
		}
	}
	return removeOrphans(fs, dir)
}

func removeOrphans(fs vfs.FS, dir string) error {
	segments := map[Revision]bool{}
	for _, of := range []string{journalDir(dir), archiveDir(dir), indexDir(dir)} {
		if err := removeLeftovers(fs, of, segments); err != nil {
			return err
		}
	}
	names, err := fs.ReadDir(snapshotsDir(dir))
	if err != nil {
		return err
	}
	vouched := map[Revision]bool{}
	for _, name := range names {
		if at, ok := parseName(name, manifestSuffix); ok {
			vouched[at] = true
		}
	}
	for _, name := range names {
		at, ok := parseName(name, snapshotSuffix)
		if ok && !vouched[at] || strings.HasSuffix(name, tempSuffix) {
			if err := fs.Remove(filepath.Join(snapshotsDir(dir), name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeLeftovers removes temporary files and stale indexes. It adds the directory's segments to
// segments.
func removeLeftovers(fsys vfs.FS, dir string, segments map[Revision]bool) error {
	names, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, name := range names {
		if first, ok := parseName(name, segmentSuffix); ok {
			segments[first] = true
		}
		if first, ok := parseName(name, indexSuffix); ok && !segments[first] || strings.HasSuffix(name, tempSuffix) {
			err = errors.Join(err, removeIfThere(fsys, filepath.Join(dir, name)))
		}
	}
	return err
}

// removeSnapshot removes the manifest before the snapshot file, so that a crash leaves at most a
// snapshot file without a manifest.
func removeSnapshot(fs vfs.FS, dir string, at Revision) error {
	if err := removeIfThere(fs, manifestPath(dir, at)); err != nil {
		return err
	}
	if err := fs.SyncDir(snapshotsDir(dir)); err != nil {
		return err
	}
	return removeIfThere(fs, snapshotPath(dir, at))
}
