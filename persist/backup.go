package persist

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/troupe-api/troupe/persist/vfs"
)

// The chunk format is described in doc.go. The body of a batch begins with batchHead bytes that
// replace the header of the frame.
const (
	backupMagic  = "TROUPEBK"
	chunkHeader  = 16
	batchHead    = 28
	maxChunkBody = batchHead + maxPayload
)

const (
	chunkHead     = 1 + iota // a backupHead
	chunkSnapshot            // a block of the snapshot file; none without a snapshot
	chunkBatch               // a batch of the journal after the snapshot
	chunkEnd                 // a backupEnd
)

type backupHead struct {
	Magic    string            `json:"magic"`
	Format   int               `json:"format"`
	Time     int64             `json:"time"`     // Unix nanoseconds
	Base     Revision          `json:"base"`     // revision of the snapshot; 0: none
	BaseTime int64             `json:"baseTime"` // when the snapshot was written, Unix nanoseconds; 0: unknown
	Items    int64             `json:"items"`
	Revision Revision          `json:"revision"` // revision of the state
	Labels   map[string]string `json:"labels"`
}

type backupEnd struct {
	Revision Revision `json:"revision"`
	Chunks   uint32   `json:"chunks"` // number of chunks before this one
	Sum      uint32   `json:"sum"`    // CRC-32C of all chunk headers before this one
}

// Backup writes the state at the newest revision and returns that revision. It does not block
// writers. It holds filesMu only while it opens the files, and open files stay readable after their
// removal.
func (j *Journal) Backup(w io.Writer) (Revision, error) {
	j.filesMu.Lock()
	b, err := j.beginBackup(w)
	j.filesMu.Unlock()
	if err != nil {
		return 0, err
	}
	return b.head.Revision, errors.Join(b.copy(), b.close())
}

// BackupDir backs up a data directory. It returns ErrLocked if a process uses the directory.
func BackupDir(dir string, w io.Writer) (Revision, error) { return backupDir(dir, w, Options{}) }

// backupDir opens the directory like the daemon, with lock and recovery, so that the backup
// contains no torn batch.
func backupDir(dir string, w io.Writer, o Options) (Revision, error) {
	o = o.withDefaults()
	if _, err := o.FS.ReadDir(dir); err != nil {
		return 0, err // Open would create it
	}
	j, err := Open(dir, o)
	if err != nil {
		return 0, err
	}
	_, err = j.Recover(Recovery{})
	var rev Revision
	if err == nil {
		rev, err = j.Backup(w)
	}
	return rev, errors.Join(err, j.Close())
}

type backup struct {
	out      chunkWriter
	head     backupHead
	snapshot *blockReader
	segments []openSegment
	closers  []io.Closer
}

// An openSegment is an open journal segment of a backup. The file may grow while the backup runs.
type openSegment struct {
	segment
	next Revision // as in scan.successor
	file vfs.File
}

func (s openSegment) scan() scan {
	return scan{segment: s.segment, newest: s.next == 0, successor: s.next}
}

// beginBackup opens the files of a backup. The caller holds j.filesMu.
func (j *Journal) beginBackup(w io.Writer) (*backup, error) {
	if err := j.status.check(); err != nil {
		return nil, err
	}
	b := &backup{out: chunkWriter{w: w}}
	j.inventory.mu.Lock()
	b.head = backupHead{
		Magic: backupMagic, Format: formatVersion, Time: j.o.Now().UnixNano(),
		Base: j.inventory.base, Revision: j.inventory.newest, Labels: stateLabels(*j.labels.values.Load()),
	}
	segments := append([]segment(nil), j.inventory.segments...)
	hasBase := j.inventory.hasBase
	j.inventory.mu.Unlock()
	var err error
	if hasBase {
		err = b.openSnapshot(j)
	}
	if err == nil {
		err = b.openSegments(j, segments)
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *backup) openSnapshot(j *Journal) error {
	m, err := readManifest(j.fs, j.dir, b.head.Base)
	if err != nil {
		return err
	}
	r, file, err := openSnapshot(j.fs, snapshotPath(j.dir, b.head.Base), m)
	if err != nil {
		return err
	}
	b.snapshot, b.head.Items, b.head.BaseTime, b.closers = r, m.Items, m.Time, append(b.closers, file)
	return nil
}

// openSegments opens the segments that the snapshot does not cover. Each segment ends where the
// next one begins.
func (b *backup) openSegments(j *Journal, segments []segment) error {
	for i, s := range segments {
		next := nextFirst(segments, i)
		if next > 0 && next <= b.head.Base+1 {
			continue // the snapshot covers it
		}
		file, err := j.fs.Open(s.path)
		if err != nil {
			return err
		}
		b.segments, b.closers = append(b.segments, openSegment{s, next, file}), append(b.closers, file)
	}
	return nil
}

func (b *backup) close() error {
	var err error
	for _, c := range b.closers {
		err = errors.Join(err, c.Close())
	}
	return err
}

// copy writes all chunks, the end chunk last. Backups without an end chunk are rejected as
// truncated.
func (b *backup) copy() error {
	if err := b.out.json(chunkHead, b.head); err != nil {
		return err
	}
	if b.snapshot != nil {
		if err := b.copySnapshot(); err != nil {
			return err
		}
	}
	for _, s := range b.segments {
		if s.first > b.head.Revision {
			break
		}
		if err := b.copySegment(s); err != nil {
			return err
		}
	}
	return b.out.json(chunkEnd, backupEnd{b.head.Revision, b.out.chunks, b.out.sum})
}

// copySnapshot copies the snapshot and verifies its checksums, to avoid propagating damage.
func (b *backup) copySnapshot() error {
	for {
		err := b.snapshot.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = b.out.chunk(chunkSnapshot, b.snapshot.left)
		}
		if err != nil {
			return err
		}
	}
}

func (b *backup) copySegment(s openSegment) error {
	size, err := s.file.Size()
	if err != nil {
		return err
	}
	sc := scan{segment: s.segment, successor: s.next, until: b.head.Revision}
	done, err := sc.walk(&window{file: s.file, size: size}, func(f frame, payload []byte) error {
		if f.last <= b.head.Base {
			return nil
		}
		body := make([]byte, batchHead, batchHead+len(payload))
		le.PutUint64(body, uint64(f.first))
		le.PutUint64(body[8:], uint64(f.last))
		le.PutUint64(body[16:], uint64(f.time))
		le.PutUint32(body[24:], f.count)
		if err := b.out.chunk(chunkBatch, append(body, payload...)); err != nil {
			return callbackError{err}
		}
		return nil
	})
	if err == nil && done.torn != "" && done.next != s.next {
		err = sc.corruptError(done.end, done.torn)
	}
	return err
}

// A chunkWriter writes the chunks of a backup. sum covers only the headers, because they contain
// the checksums of the bodies.
type chunkWriter struct {
	w      io.Writer
	chunks uint32
	sum    uint32
}

func (c *chunkWriter) chunk(kind uint32, body []byte) error {
	var h [chunkHeader]byte
	le.PutUint32(h[:], kind)
	le.PutUint32(h[4:], uint32(len(body)))
	le.PutUint32(h[8:], checksum(body))
	le.PutUint32(h[12:], checksum(h[:12]))
	c.chunks, c.sum = c.chunks+1, updateChecksum(c.sum, h[:])
	if _, err := c.w.Write(h[:]); err != nil {
		return err
	}
	_, err := c.w.Write(body)
	return err
}

func (c *chunkWriter) json(kind uint32, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.chunk(kind, body)
}

func errBackup(format string, args ...any) error {
	return fmt.Errorf("the backup is damaged: "+format, args...)
}
