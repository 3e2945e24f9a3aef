package persist

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/tidwall/buntdb"

	"github.com/troupe-api/troupe/persist/vfs"
)

// A Point is a point in a log's history. A Point with a Revision is the state at that
// resourceVersion, even within a batch. A Point with a Time includes all batches up to that time.
// The zero Point is the end of the history.
type Point struct {
	Revision Revision
	Time     time.Time
}

// Restored describes the state written by Restore.
type Restored struct {
	Revision Revision  // revision of the newest write
	Time     time.Time // time of that write; zero: unknown, because it is in a snapshot
}

type restoration struct {
	o        Options
	to       Point
	db       *buntdb.DB
	labels   map[string]string
	base     Revision // revision of the snapshot
	baseTime time.Time
	revision Revision
	time     time.Time // time of the newest batch; zero: no batch after the snapshot
	reached  bool      // all later batches are after the point
	given    Revision  // newest revision known to have been assigned
	since    time.Time // time after which further revisions may have been assigned
	until    time.Time // the history extends at least to this time
}

func (s *restoration) close() error {
	if s.db == nil {
		return nil
	}
	return s.db.Close()
}

func (s *restoration) read(from Source) error {
	if s.to.Revision > 0 && !s.to.Time.IsZero() {
		return errors.New("a point is a revision or a time, not both")
	}
	switch {
	case from.Backup != nil:
		in := &backupReader{r: from.Backup}
		if err := in.read(s); err != nil {
			return err
		}
		s.given = max(s.given, in.revision)
	case from.Journal == "":
		return errors.New("nothing to restore from")
	default:
		if err := s.beginWith(from.Journal); err != nil {
			return err
		}
	}
	if from.Journal != "" && from.Backup != nil {
		if err := s.checkHistory(from.Journal); err != nil {
			return err
		}
	}
	if from.Journal != "" {
		if err := s.follow(from.Journal); err != nil {
			return err
		}
	}
	return s.checkPoint()
}

func (s *restoration) begin(db *buntdb.DB, labels map[string]string, at Revision, written int64) {
	s.db, s.labels, s.base, s.revision, s.given = db, labels, at, at, at
	if written > 0 {
		s.baseTime = time.Unix(0, written)
	}
	s.reached = s.to.Revision > 0 && at >= s.to.Revision
}

// beginWith starts from the newest intact snapshot that is not newer than the point. Otherwise, if
// the journal is complete, it starts from an empty state. As a last resort, it starts from a
// snapshot written after the point's time, because its state may still be earlier.
func (s *restoration) beginWith(dir string) error {
	labels, err := readLabels(s.o.FS, dir)
	if err != nil {
		return err
	}
	s.since = s.o.Now()
	list, err := listSnapshots(s.o.FS, dir)
	if err != nil {
		return err
	}
	var faults []error
	var later []Revision
	for _, at := range list {
		m, err := readManifest(s.o.FS, dir, at)
		switch {
		case err != nil:
		case s.to.Revision > 0 && at > s.to.Revision:
			err = fmt.Errorf("the snapshot of %s is at revision %d, after the point: earlier points need a backup", dir, at)
		case !s.to.Time.IsZero() && time.Unix(0, m.Time).After(s.to.Time):
			later = append(later, at)
			continue
		default:
			if err = s.beginAt(dir, labels, at); err == nil {
				return nil
			}
		}
		faults = append(faults, err)
	}
	segments, err := listHistory(s.o.FS, dir)
	if err == nil && len(segments) > 0 && segments[0].first == 1 {
		db, err := openMemory()
		s.begin(db, labels, 0, 0)
		return err
	}
	if len(later) > 0 && err == nil {
		return s.beginAt(dir, labels, later[len(later)-1])
	}
	return errors.Join(append(faults, err, fmt.Errorf("%s has no snapshot to begin with", dir))...)
}

func (s *restoration) beginAt(dir string, labels map[string]string, at Revision) error {
	db, m, err := loadSnapshot(s.o.FS, dir, at)
	if err != nil {
		return fmt.Errorf("snapshot at revision %d: %w", at, err)
	}
	s.begin(db, labels, at, m.Time)
	return nil
}

// apply applies a batch's writes between the current state and the point.
func (s *restoration) apply(f frame, payload []byte) error {
	s.given = max(s.given, f.last)
	when := time.Unix(0, f.time)
	later := !s.to.Time.IsZero() && when.After(s.to.Time)
	if s.reached = s.reached || later && f.last > s.revision; !later && f.first <= s.revision && s.revision <= f.last {
		s.time = when // time of the state, which came from a snapshot
	}
	if s.reached || f.last <= s.revision {
		return nil
	}
	var commits []Commit
	err := decodeRecords(f, payload, func(c Commit) error {
		if c.Revision > s.revision && (s.to.Revision == 0 || c.Revision <= s.to.Revision) {
			commits = append(commits, c)
		}
		return nil
	})
	if err != nil || len(commits) == 0 {
		return err
	}
	if err := s.db.Update(func(tx *buntdb.Tx) error { return applyAll(tx, commits) }); err != nil {
		return err
	}
	s.revision, s.time = commits[len(commits)-1].Revision, when
	s.reached = s.revision == s.to.Revision
	return nil
}

// listHistory returns all segments of a data directory in ascending order, including archived ones.
func listHistory(fsys vfs.FS, dir string) ([]segment, error) {
	active, err := listSegments(fsys, journalDir(dir))
	if err != nil {
		return nil, err
	}
	// List the archive last, so that a concurrently archived segment is not missed.
	archived, err := listArchive(fsys, dir)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(active, archived)
	slices.SortStableFunc(all, func(a, b segment) int { return cmp.Compare(a.first, b.first) })
	return slices.CompactFunc(all, func(a, b segment) bool { return a.first == b.first }), nil
}

// errReached ends the replay of the journal at the point.
var errReached = callbackError{errors.New("the point is reached")}

// follow applies the journal and archive of a data directory.
func (s *restoration) follow(dir string) error {
	// Read the control file first, because a running daemon may append to the journal concurrently.
	m, _, promise := readControl(s.o.FS, dir)
	if errors.Is(promise, fs.ErrNotExist) {
		promise = nil // a directory of format 1
	}
	s.given = max(s.given, m.maxRevision, m.newest)
	segments, err := s.openHistory(dir)
	if err != nil {
		return err
	}
	err = s.walk(dir, segments)
	for _, one := range segments {
		err = errors.Join(err, one.file.Close())
	}
	if err == nil && !s.reached {
		s.until = s.o.Now()
		if err = promise; err == nil && s.revision < m.newest {
			err = m.revisionLoss(dir, s.revision)
		}
	}
	if err != nil && s.revision > s.base {
		return fmt.Errorf("%w; the data is complete up to revision %d, of %s", err, s.revision, s.time.UTC().Format(time.RFC3339Nano))
	}
	return err
}

// checkHistory rejects the journal of a different directory, even if the revisions happen to be
// contiguous.
func (s *restoration) checkHistory(dir string) error {
	labels, err := readLabels(s.o.FS, dir)
	if err != nil {
		return err
	}
	of := s.labels[historyLabel]
	if of == "" {
		return errors.New("the backup names no data directory, so no journal continues it: it was made from etcd or by an earlier release")
	}
	if of != labels[historyLabel] {
		return fmt.Errorf("the journal of %s does not continue the backup: they belong to different data directories", dir)
	}
	return nil
}

// openHistory opens the segments that continue the state. It retries if a daemon archives one
// concurrently.
func (s *restoration) openHistory(dir string) ([]openSegment, error) {
	const tries = 10
	for n := 1; ; n++ {
		all, err := listHistory(s.o.FS, dir)
		if err != nil {
			return nil, err
		}
		begin := len(all) - 1
		for begin > 0 && all[begin].first > s.revision+1 {
			begin--
		}
		if begin < 0 {
			return nil, nil
		}
		if first := all[begin].first; first > s.revision+1 {
			return nil, fmt.Errorf("the journal of %s begins with revision %d, but the state ends at %d: the changes in between were dropped", dir, first, s.revision)
		}
		var open []openSegment
		for i, one := range all[begin:] {
			var file vfs.File
			if file, err = s.o.FS.Open(one.path); err != nil {
				break
			}
			open = append(open, openSegment{one, nextFirst(all, begin+i), file})
		}
		if err == nil {
			return open, nil
		}
		for _, one := range open {
			err = errors.Join(err, one.file.Close())
		}
		if n == tries || !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

func (s *restoration) walk(dir string, segments []openSegment) error {
	for i, one := range segments {
		if s.reached {
			return nil
		}
		if i > 0 && one.first > s.revision+1 {
			return &CorruptError{File: one.path, What: fmt.Sprintf("the segment begins with revision %d, but the one before ends with %d", one.first, s.revision)}
		}
		size, err := one.file.Size()
		if err != nil {
			return err
		}
		_, err = one.scan().walk(&window{file: one.file, size: size}, func(f frame, payload []byte) error {
			if err := s.apply(f, payload); err != nil || !s.reached {
				return err
			}
			return errReached
		})
		if err != nil && !errors.Is(err, errReached.error) {
			return err
		}
	}
	return nil
}

func (s *restoration) checkPoint() error {
	switch t := s.to.Time; {
	case s.to.Revision > 0 && s.revision > s.to.Revision:
		return fmt.Errorf("revision %d is before the snapshot that the state begins with, at %d", s.to.Revision, s.base)
	case s.to.Revision > s.revision:
		return fmt.Errorf("revision %d is after the end, at %d", s.to.Revision, s.revision)
	case t.IsZero():
	case !s.reached && t.After(s.until):
		return fmt.Errorf("%s is after the last change, at %s", t.UTC().Format(time.RFC3339Nano), s.until.UTC().Format(time.RFC3339Nano))
	case s.time.IsZero() && s.base == 0:
		return fmt.Errorf("%s is before the first change", t.UTC().Format(time.RFC3339Nano))
	case s.time.IsZero() && (s.baseTime.IsZero() || t.Before(s.baseTime)):
		return fmt.Errorf("%s may be before the snapshot that the state begins with, at revision %d: name a revision or a later time", t.UTC().Format(time.RFC3339Nano), s.base)
	}
	return nil
}
