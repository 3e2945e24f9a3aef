package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/troupe-api/troupe/persist/vfs"
)

func removeIfThere(fsys vfs.FS, path string) error {
	if err := fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

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

type recovery struct {
	j        *Journal
	r        Recovery
	base     Revision
	hasBase  bool
	damaged  Revision // revision of the newest damaged snapshot; 0: none
	faults   []error  // errors of damaged snapshots
	segments []segment
	last     Revision // last revision of the journal
	torn     string   // why the journal ends in a torn batch
	lenient  bool     // tolerate data loss relative to the watermark, and deliver values as stored
	buf      []byte
}

// Recover implements Log. It truncates an unacknowledged write that was torn by a crash. A damaged
// snapshot is skipped if the journal and an older snapshot (or none) yield the same state. Any
// other damage is a CorruptError. After an error, the caller must discard the state and close the
// log.
func (j *Journal) Recover(r Recovery) (Revision, error) {
	j.writeMu.Lock()
	defer j.writeMu.Unlock()
	j.filesMu.Lock()
	defer j.filesMu.Unlock()
	if err := j.status.check(); !errors.Is(err, errNotRecovered) {
		return 0, errors.Join(errors.New("Recover is called once, after Open"), err)
	}
	if err := j.salvage(); err != nil {
		return 0, err
	}
	j.states.begin(r.State)
	run := &recovery{j: j, r: r}
	var err error
	if c := j.o.Checkpoint; c != nil {
		err = run.resume(c)
	} else {
		err = run.runSteps(run.loadState, run.findSegments, run.dropStaleJournal, run.replayJournal, run.checkComplete, run.openActiveSegment)
	}
	if err != nil {
		return 0, err
	}
	if j.o.WatermarkInterval > 0 {
		j.refillBallast()
		stop, ended := make(chan struct{}), make(chan struct{})
		j.endMaintenance = func() { close(stop); <-ended }
		go j.runMaintenance(stop, ended)
	}
	return j.inventory.newest, nil
}

// runSteps runs steps until one fails. It joins the step's error with those of damaged snapshots. A
// damaged snapshot is often the cause, because earlier segments may have been dropped.
func (run *recovery) runSteps(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return errors.Join(append([]error{err}, run.faults...)...)
		}
	}
	return nil
}

// loadState passes the newest intact snapshot to the caller. It loads and verifies the whole
// snapshot before it delivers an item.
func (run *recovery) loadState() error {
	j := run.j
	list, err := listSnapshots(j.fs, j.dir)
	if err != nil {
		return err
	}
	var parts snapshotParts
	for _, at := range list {
		var m manifest
		parts, m, err = loadParts(j.fs, j.dir, at)
		if err == nil {
			run.base, run.hasBase = at, true
			j.inventory.stats.SnapshotBytes, j.inventory.stats.Snapshots = m.Bytes, 1
			break
		}
		run.damaged = max(run.damaged, at)
		run.faults = append(run.faults, fmt.Errorf("snapshot at revision %d: %w", at, err))
		j.o.Logger.Error("a snapshot is damaged", "revision", at, "error", err)
	}
	if err := errors.Join(parts.each(run.deliverItem), parts.Close()); err != nil {
		return err
	}
	if run.r.Base != nil {
		return run.r.Base(run.base)
	}
	return nil
}

func (run *recovery) deliverItem(item Item) error {
	run.j.states.set(&Commit{Key: item.Key, Revision: item.Revision})
	if run.r.Item == nil {
		return nil
	}
	if !run.lenient {
		if err := run.j.decodeItem(&item); err != nil {
			return err
		}
	}
	return run.r.Item(item)
}

// findSegments lists the segments. Without a snapshot, the journal must begin at revision 1.
func (run *recovery) findSegments() (err error) {
	j := run.j
	if run.segments, err = listSegments(j.fs, journalDir(j.dir)); err != nil {
		return err
	}
	marked := j.control.watermark.segment
	if marked > 0 && !run.lenient && !slices.ContainsFunc(run.segments, func(s segment) bool { return s.first == marked }) {
		return j.control.watermark.segmentLoss(j.dir)
	}
	n := len(run.segments)
	if n == 0 {
		run.last = run.base
		return nil
	}
	if first := run.segments[0].first; first == 0 || first > run.base+1 {
		return &CorruptError{File: run.segments[0].path, What: fmt.Sprintf(
			"the journal begins with revision %d, but the newest intact snapshot is at %d: the changes in between are missing", first, run.base)}
	}
	return nil
}

// dropStaleJournal drops a journal that ends before the snapshot, because the commits in between
// are missing. It returns a DataLossError unless a data loss was accepted.
func (run *recovery) dropStaleJournal() error {
	j, n := run.j, len(run.segments)
	if n == 0 || run.segments[n-1].first > run.base {
		return nil
	}
	last := run.segments[n-1]
	done, err := scan{fs: j.fs, segment: last, newest: true}.run(nil)
	if err != nil || done.next > run.base {
		return err
	}
	if j.control.watermark.segment > 0 && !run.lenient {
		return journalLoss(last, done.next-1, run.base)
	}
	for ; len(run.segments) > 0 && !run.lenient; run.segments = run.segments[:n] {
		n = len(run.segments) - 1
		if err := errors.Join(j.fs.Remove(run.segments[n].path), j.fs.SyncDir(journalDir(j.dir))); err != nil {
			return err
		}
	}
	j.o.Logger.Warn("the journal ends before the snapshot: its history is dropped", "journal", done.next-1, "snapshot", run.base)
	run.segments, run.last = nil, run.base
	return nil
}

func (run *recovery) replayJournal() error {
	m := run.j.control.watermark
	for i := range run.segments {
		s := &run.segments[i]
		newest := i == len(run.segments)-1
		if i > 0 && s.first != run.last+1 {
			if newest && s.first <= run.last {
				return run.dropEmptySegment(*s)
			}
			return &CorruptError{File: s.path, What: fmt.Sprintf(
				"the segment begins with revision %d, but the one before ends with %d", s.first, run.last)}
		}
		sc := scan{fs: run.j.fs, segment: *s, newest: newest, successor: nextFirst(run.segments, i), buf: run.buf}
		if s.first == m.segment {
			sc.sumOffset = m.end
		}
		done, err := sc.run(run.replayBatch)
		if err != nil {
			return err
		}
		run.buf, run.last = done.buf, done.next-1
		s.size, s.sum = done.end, done.sum
		if newest {
			run.torn = done.torn
		} else if done.torn != "" {
			run.j.o.Logger.Warn("ignoring invalid data after the last batch of a segment; the next segment continues the journal", "file", s.path, "offset", done.end, "reason", done.torn)
		}
		if s.first != m.segment || run.lenient {
			continue
		}
		if what := m.missingFrom(done); what != "" {
			return &DataLossError{File: s.path, What: what}
		}
	}
	return nil
}

func nextFirst(segments []segment, i int) Revision {
	if i+1 == len(segments) {
		return 0
	}
	return segments[i+1].first
}

// dropEmptySegment drops a segment whose creation failed on a full disk, but whose file reappeared
// after a crash.
func (run *recovery) dropEmptySegment(s segment) error {
	done, err := scan{fs: run.j.fs, segment: s, newest: true}.run(nil)
	if err != nil {
		return err
	}
	if done.batches > 0 {
		return &CorruptError{File: s.path, What: fmt.Sprintf("the segment before ends with revision %d", run.last)}
	}
	run.segments = run.segments[:len(run.segments)-1]
	return errors.Join(run.j.fs.Remove(s.path), run.j.fs.SyncDir(journalDir(run.j.dir)))
}

func (run *recovery) replayBatch(f frame, payload []byte) error {
	if f.last > run.base {
		run.j.inventory.stats.SinceSnapshot += f.size()
	}
	return decodeRecords(f, payload, run.deliverCommit)
}

// deliverCommit passes a commit to the caller. This includes commits that the snapshot already
// covers, because watches may resume from them.
func (run *recovery) deliverCommit(c Commit) error {
	if c.Revision > run.base {
		run.j.states.set(&c)
	}
	if run.r.Commit == nil {
		return nil
	}
	if !run.lenient {
		if err := run.j.decodeCommit(&c, run.base); err != nil {
			return err
		}
	}
	return run.r.Commit(c)
}

func (run *recovery) checkComplete() error {
	if run.last < run.damaged {
		return fmt.Errorf("the journal ends at revision %d and cannot replace the damaged snapshot at %d", run.last, run.damaged)
	}
	if m := run.j.control.watermark; max(run.last, run.base) < m.newest && !run.lenient {
		return m.revisionLoss(run.j.dir, max(run.last, run.base))
	}
	return removeOrphans(run.j.fs, run.j.dir)
}

func (run *recovery) openActiveSegment() error {
	j := run.j
	if n := len(run.segments); n > 0 && run.segments[n-1].size == 0 {
		// A crash interrupted the creation of this segment. Its removal must be durable before the
		// previous segment grows.
		j.o.Logger.Warn("removed a segment without a header", "file", run.segments[n-1].path, "reason", run.torn)
		if err := errors.Join(j.fs.Remove(run.segments[n-1].path), j.fs.SyncDir(journalDir(j.dir))); err != nil {
			return err
		}
		run.segments, run.torn = run.segments[:n-1], ""
	}
	j.inventory.mu.Lock()
	j.inventory.segments, j.inventory.newest = run.segments, max(run.base, run.last)
	j.inventory.base, j.inventory.hasBase = run.base, run.hasBase
	j.inventory.mu.Unlock()
	j.status.setRecovered()
	if len(run.segments) > 0 {
		return run.reopenSegment(run.segments[len(run.segments)-1])
	}
	if err := j.rotateNow(); !isTransient(err) {
		return err
	}
	return nil // the first Append retries
}

// reopenSegment makes the last segment active. It syncs and truncates the file, because a killed
// process may have left unsynced bytes.
func (run *recovery) reopenSegment(s segment) error {
	j := run.j
	file, size, err := j.openForAppend(s)
	if err != nil {
		return err
	}
	j.inventory.mu.Lock()
	j.file, j.inventory.reserved, j.inventory.synced = file, size, true
	j.inventory.mu.Unlock()
	if run.torn != "" {
		j.o.Logger.Warn("cut off a write that a crash interrupted", "file", s.path, "offset", s.size,
			"bytes", size-s.size, "reason", run.torn)
		return j.truncateReserve(s.size)
	}
	if err := j.sync(); err != nil {
		return err
	}
	if err := j.writeWatermark(); !errors.Is(err, ErrNoSpace) {
		return err
	}
	return nil // the first Append retries
}
