package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/tidwall/buntdb"

	"github.com/troupe-api/troupe/persist/vfs"
)

func removeIfThere(fsys vfs.FS, path string) error {
	if err := fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// listSnapshots answers the revisions of all snapshots that have a manifest, newest first.
func listSnapshots(fsys vfs.FS, dir string) ([]Revision, error) {
	names, err := fsys.ReadDir(snapshotsDir(dir))
	if err != nil {
		return nil, err
	}
	var out []Revision
	for _, name := range names {
		if at, ok := parseName(name, manifestSuffix); ok {
			out = append(out, at)
		}
	}
	slices.SortFunc(out, func(a, b Revision) int { return cmpRevision(b, a) })
	return out, nil
}

// A recovery is one run of Recover.
type recovery struct {
	j        *Journal
	r        Recovery
	base     Revision
	hasBase  bool
	damaged  Revision // of the newest snapshot that is damaged; 0: none is
	faults   []error  // of damaged snapshots
	segments []segment
	last     Revision // of the journal
	torn     string   // what a crash cut short at the journal's end
	buf      []byte
}

// Recover implements Log. A write that a crash cut short before it was acknowledged is cut
// off; any other deviation from what was made durable is a CorruptError. A damaged snapshot
// is passed over only if an older one, or none, and the journal yield the same state.
// After an error the caller forgets what was delivered and closes the log.
func (j *Journal) Recover(r Recovery) (Revision, error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.maint.Lock()
	defer j.maint.Unlock()
	if err := j.ready(); !errors.Is(err, errNotRecovered) {
		return 0, errors.Join(errors.New("persist: Recover is called once, after Open"), err)
	}
	j.currentOf, j.applied = r.Current, r.Applied
	if r.Current == nil {
		j.own = map[string]Revision{}
	}
	run := &recovery{j: j, r: r}
	for _, step := range []func() error{run.state, run.list, run.discard, run.journal, run.settle, run.activate} {
		if err := step(); err != nil {
			return 0, errors.Join(append([]error{err}, run.faults...)...)
		}
	}
	return j.newest, nil
}

// state delivers the newest intact snapshot.
func (run *recovery) state() error {
	j := run.j
	list, err := listSnapshots(j.fs, j.dir)
	if err != nil {
		return err
	}
	var db *buntdb.DB
	for _, at := range list {
		var m manifest
		db, m, err = loadSnapshot(j.fs, j.dir, at)
		if err == nil {
			run.base, run.hasBase = at, true
			j.stats.SnapshotBytes, j.stats.Snapshots = m.Bytes, 1
			break
		}
		run.damaged = max(run.damaged, at)
		run.faults = append(run.faults, fmt.Errorf("persist: snapshot at revision %d: %w", at, err))
		j.o.Logger.Error("a snapshot is damaged", "revision", at, "error", err)
	}
	if db != nil {
		err := eachItem(db, run.item)
		if err = errors.Join(err, db.Close()); err != nil {
			return err
		}
	}
	if run.r.Base != nil {
		return run.r.Base(run.base)
	}
	return nil
}

func (run *recovery) item(item Item) error {
	if run.j.own != nil {
		run.j.own[item.Key] = item.Revision
	}
	if run.r.Item != nil {
		return run.r.Item(item)
	}
	return nil
}

// list finds the segments and removes a last one that was never completed.
func (run *recovery) list() (err error) {
	j := run.j
	if run.segments, err = listSegments(j.fs, journalDir(j.dir)); err != nil {
		return err
	}
	n := len(run.segments)
	if n == 0 {
		run.last = run.base
		return nil
	}
	if first := run.segments[0].first; first == 0 || first > run.base+1 {
		return &CorruptError{File: run.segments[0].path, What: fmt.Sprintf(
			"the journal begins with revision %d, but the newest intact snapshot is at %d: what lies between is missing", first, run.base)}
	}
	return nil
}

// discard drops a journal that ends before the snapshot: its history has a gap before the
// next revision. That needs a power cut under SyncNone, or somebody who cut the files.
func (run *recovery) discard() error {
	j, n := run.j, len(run.segments)
	if n == 0 || run.segments[n-1].first > run.base {
		return nil
	}
	last := run.segments[n-1]
	done, err := scan{fs: j.fs, segment: last, newest: true}.run(nil)
	if err != nil || done.next > run.base {
		return err
	}
	j.o.Logger.Warn("the journal ends before the snapshot: its history is dropped", "journal", done.next-1, "snapshot", run.base)
	for len(run.segments) > 0 {
		n = len(run.segments) - 1
		if err := errors.Join(j.fs.Remove(run.segments[n].path), j.fs.SyncDir(journalDir(j.dir))); err != nil {
			return err
		}
		run.segments = run.segments[:n]
	}
	run.last = run.base
	return nil
}

// journal delivers the commits of all segments.
func (run *recovery) journal() error {
	j := run.j
	for i := range run.segments {
		s := &run.segments[i]
		if i > 0 && s.first != run.last+1 {
			return &CorruptError{File: s.path, What: fmt.Sprintf(
				"the segment begins with revision %d, but the one before ends with %d", s.first, run.last)}
		}
		newest := i == len(run.segments)-1
		done, err := scan{fs: j.fs, segment: *s, newest: newest, buf: run.buf}.run(run.batch)
		if err != nil {
			return err
		}
		run.buf, run.last, s.size = done.buf, done.next-1, done.end
		run.torn = done.torn
	}
	return nil
}

func (run *recovery) batch(f frame, payload []byte) error {
	if f.last > run.base {
		run.j.stats.SinceSnapshot += f.size()
	}
	return decodeRecords(f, payload, run.commit)
}

func (run *recovery) commit(c Commit) error {
	if run.j.own != nil && c.Revision > run.base {
		run.j.apply(&c)
	}
	if run.r.Commit != nil {
		return run.r.Commit(c)
	}
	return nil
}

// settle decides whether what was delivered is everything that was ever acknowledged.
func (run *recovery) settle() error {
	if run.last < run.damaged {
		return fmt.Errorf("persist: the journal ends at revision %d and cannot replace the damaged snapshot at %d", run.last, run.damaged)
	}
	return dropStrays(run.j.fs, run.j.dir)
}

// activate cuts off a torn batch and opens the last segment for writing.
func (run *recovery) activate() (err error) {
	j := run.j
	if n := len(run.segments); n > 0 && run.segments[n-1].size == 0 {
		// A crash while the segment was made. It must be gone for good before the one
		// before grows.
		j.o.Logger.Warn("removed a segment without a header", "file", run.segments[n-1].path, "reason", run.torn)
		if err := errors.Join(j.fs.Remove(run.segments[n-1].path), j.fs.SyncDir(journalDir(j.dir))); err != nil {
			return err
		}
		run.segments, run.torn = run.segments[:n-1], ""
	}
	newest := max(run.base, run.last)
	if len(run.segments) == 0 {
		var s segment
		if s, err = createSegment(j.fs, journalDir(j.dir), newest+1); err != nil {
			return noSpace(err)
		}
		run.segments = append(run.segments, s)
	}
	if err := run.reopen(run.segments[len(run.segments)-1]); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.segments, j.newest = run.segments, newest
	j.base, j.hasBase, j.recovered = run.base, run.hasBase, true
	return nil
}

// reopen makes the last segment the active one, and what was read of it durable: a kill may
// have left bytes that were written and never synced. Only zeros may follow the last batch.
func (run *recovery) reopen(s segment) error {
	j := run.j
	if err := j.extend(s); err != nil {
		return err
	}
	if run.torn == "" {
		return j.sync()
	}
	j.o.Logger.Warn("cut off a write that a crash interrupted", "file", s.path, "offset", s.size,
		"bytes", j.reserved-s.size, "reason", run.torn)
	return j.trim(s.size)
}
