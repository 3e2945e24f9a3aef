package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/tidwall/buntdb"

	"github.com/troupe-api/troupe/persist/vfs"
)

// A restored log skips restoreRevisionGap revisions after the backup's revision, plus
// restoreRevisionRate for each second since the backup. It thus continues above all revisions that
// a server can have assigned since, even with a wrong clock. No revision is used twice, and the new
// history begins after all revisions known to clients.
const (
	restoreRevisionGap  = RevisionGap
	restoreRevisionRate = 100_000
)

// A Source holds the data that Restore reads. At least one of Backup and Journal must be set.
type Source struct {
	Backup io.Reader // nil: the state begins with the snapshot of Journal
	// Journal is a data directory whose journal continues the backup, or "". It is only read and
	// may be in use. Damage after To is ignored.
	Journal string
	To      Point
	Target  vfs.FS // file system of the created directory; nil: the operating system's
}

// Restore creates a data directory with a source's state at a point. dir must be missing, empty, or
// the target of an unfinished Restore. The directory cannot be opened until Restore has verified
// the source, found the point and written the state.
func Restore(dir string, from Source) (Restored, error) { return restore(dir, from, Options{}) }

func restore(dir string, from Source, o Options) (Restored, error) {
	o = o.withDefaults()
	s := &restoration{o: o, to: from.To}
	target := o
	if from.Target != nil {
		target.FS = from.Target
	}
	err := createDirectory(dir, target, func() (contents, error) {
		if err := s.read(from); err != nil {
			return contents{}, errors.Join(err, s.close())
		}
		// The clock may be behind the time of the backup.
		elapsed := max(0, o.Now().Sub(s.since)/time.Second)
		return contents{s.db, s.labels, s.given + restoreRevisionGap + restoreRevisionRate*Revision(elapsed), nil}, nil
	})
	if err != nil {
		return Restored{}, err
	}
	return Restored{s.revision, s.time}, nil
}

type backupReader struct {
	r        io.Reader
	head     backupHead
	chunks   uint32
	sum      uint32 // checksum of the headers read so far
	revision Revision
	kind     uint32 // kind of the current chunk
	body     []byte
	header   [chunkHeader]byte
}

// CheckBackup reads a whole backup and returns its revision. It verifies checksums and
// completeness, but not the objects.
func CheckBackup(r io.Reader) (Revision, error) {
	in := &backupReader{r: r}
	if err := in.open(); err != nil {
		return 0, err
	}
	in.revision = in.head.Base
	for in.kind == chunkSnapshot || in.kind == chunkBatch {
		if in.kind == chunkBatch {
			f, err := in.frame()
			if err != nil {
				return 0, err
			}
			in.revision = f.last
		}
		if err := in.use(); err != nil {
			return 0, err
		}
	}
	return in.revision, in.end()
}

func (in *backupReader) open() error {
	if err := in.next(); err != nil {
		return err
	}
	if in.kind != chunkHead || json.Unmarshal(in.body, &in.head) != nil || in.head.Magic != backupMagic {
		return errBackup("it does not begin with the mark of a backup")
	}
	if in.head.Format != formatVersion {
		return errFormat("the backup", in.head.Format, formatVersion)
	}
	return in.use()
}

// read reads the whole backup and builds the state up to the point.
func (in *backupReader) read(s *restoration) error {
	if err := in.open(); err != nil {
		return err
	}
	blocks := &snapshotChunks{in: in}
	db, err := loadItems(blocks, in.head.Items, "the backup's snapshot")
	if err = errors.Join(err, blocks.err); err != nil {
		return err
	}
	s.begin(db, in.head.Labels, in.head.Base, in.head.BaseTime)
	s.since, s.until = time.Unix(0, in.head.Time), time.Unix(0, in.head.Time)
	in.revision = in.head.Base
	for in.kind == chunkBatch {
		if err := in.batch(s); err != nil {
			return err
		}
		if err := in.use(); err != nil {
			return err
		}
	}
	return in.end()
}

func (in *backupReader) use() error {
	in.chunks, in.sum = in.chunks+1, updateChecksum(in.sum, in.header[:])
	return in.next()
}

// next reads and verifies the next chunk. It allocates memory only for bytes that it has received,
// because it does not trust the length in the header.
func (in *backupReader) next() error {
	if _, err := io.ReadFull(in.r, in.header[:]); err != nil {
		return errBackup("it ends before its end mark: %v", err)
	}
	if le.Uint32(in.header[12:]) != checksum(in.header[:12]) {
		return errBackup("the header of chunk %d has a wrong checksum", in.chunks)
	}
	n := int64(le.Uint32(in.header[4:]))
	if n > maxChunkBody {
		return errBackup("chunk %d claims %d bytes", in.chunks, n)
	}
	var body bytes.Buffer
	if got, err := io.CopyN(&body, in.r, n); err != nil {
		return errBackup("chunk %d has %d bytes instead of %d: %v", in.chunks, got, n, err)
	}
	if checksum(body.Bytes()) != le.Uint32(in.header[8:]) {
		return errBackup("chunk %d has a wrong checksum", in.chunks)
	}
	in.kind, in.body = le.Uint32(in.header[:]), body.Bytes()
	return nil
}

func (in *backupReader) frame() (f frame, err error) {
	if len(in.body) < batchHead {
		return f, errBackup("chunk %d is too short for a batch", in.chunks)
	}
	f = frame{
		first: Revision(le.Uint64(in.body)), last: Revision(le.Uint64(in.body[8:])),
		time: int64(le.Uint64(in.body[16:])), count: le.Uint32(in.body[24:]),
	}
	if f.first != in.revision+1 || f.last < f.first || f.last-f.first != Revision(f.count)-1 {
		return f, errBackup("chunk %d holds revisions %d to %d after %d", in.chunks, f.first, f.last, in.revision)
	}
	return f, nil
}

func (in *backupReader) batch(s *restoration) error {
	f, err := in.frame()
	if err != nil {
		return err
	}
	if err := s.apply(f, in.body[batchHead:]); err != nil {
		return errBackup("chunk %d: %v", in.chunks, err)
	}
	in.revision = f.last
	return nil
}

// applyAll applies commits to the state. It ignores the deletion of a missing key, because the
// backup may contain the creation of that key only in its history.
func applyAll(tx *buntdb.Tx, commits []Commit) error {
	for _, c := range commits {
		var err error
		if c.Delete {
			if _, err = tx.Delete(c.Key); errors.Is(err, buntdb.ErrNotFound) {
				err = nil
			}
		} else {
			value := le.AppendUint64(nil, uint64(c.Revision))
			_, _, err = tx.Set(c.Key, textOf(append(value, c.Value...)), nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// end verifies the end mark of a backup. It also compares revisions, to reject a mix of chunks from
// two backups.
func (in *backupReader) end() error {
	var end backupEnd
	if in.kind != chunkEnd || json.Unmarshal(in.body, &end) != nil {
		return errBackup("chunk %d is of an unexpected kind", in.chunks)
	}
	if end.Chunks != in.chunks || end.Sum != in.sum || end.Revision != in.revision || end.Revision != in.head.Revision {
		return errBackup("the end mark does not match what came before")
	}
	var more [1]byte
	if _, err := io.ReadFull(in.r, more[:]); !errors.Is(err, io.EOF) {
		return errBackup("it does not end after its end mark: %v", err)
	}
	return nil
}

type snapshotChunks struct {
	in  *backupReader
	err error // read error, which BuntDB may hide
}

// Read returns the content of consecutive snapshot chunks. It stops at the first chunk of another
// kind, which it leaves to the backupReader.
func (s *snapshotChunks) Read(b []byte) (int, error) {
	for s.in.kind == chunkSnapshot && len(s.in.body) == 0 {
		if s.err = s.in.use(); s.err != nil {
			return 0, s.err
		}
	}
	if s.in.kind != chunkSnapshot {
		return 0, io.EOF
	}
	n := copy(b, s.in.body)
	s.in.body = s.in.body[n:]
	return n, nil
}
