package persist

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// Verify compares every byte of a data directory with its checksums and applies the checks. It
// writes one line per finding to out, and returns true if it finds no fault. The directory may be
// in use. Verify ignores trailing bytes after the last batch, which may be a write in progress.
func Verify(dir string, out io.Writer, c Checks) (ok bool, err error) {
	return verify(dir, out, c, Options{})
}

// Checks holds additional checks for Verify.
type Checks struct {
	// Value, if set, is called with each stored value and metadata. An error counts as a fault.
	// Verify then holds a whole snapshot in memory.
	Value func(at Place, stored []byte) error
	// Files, if set, returns the faults of other files in the directory.
	Files func(dir string) (faults []error, err error)
}

func verify(dir string, out io.Writer, c Checks, o Options) (bool, error) {
	v := &verification{dir: dir, out: out, visit: c.Value, files: c.Files, o: o.withDefaults()}
	v.printf("directory %s", dir)
	for _, step := range []func() error{v.checkMetadataFiles, v.checkSnapshots, v.checkJournal, v.checkArchive, v.checkControlFile, v.checkFiles} {
		if err := step(); err != nil {
			return false, err
		}
	}
	if more := v.unreadable - maxUnreadable; more > 0 {
		v.printf("FAULT %d more values cannot be read", more)
	}
	plural := "s"
	if v.faults == 1 {
		plural = ""
	}
	v.printf("%d fault%s", v.faults, plural)
	return v.faults == 0, v.err
}

type verification struct {
	dir    string
	out    io.Writer
	o      Options
	format int
	base   Revision // revision of the newest intact snapshot
	first  Revision // first revision of the journal, which continues the archive
	last   Revision // last revision of the journal
	newest Revision // newest revision of all snapshots
	faults int
	err    error // write error of out

	labelled bool // the labels were read

	visit      func(at Place, stored []byte) error
	files      func(dir string) ([]error, error)
	unreadable int // number of values that visit rejected
}

const maxUnreadable = 100

func (v *verification) checkValue(at Place, stored []byte) {
	if len(stored) == 0 {
		return
	}
	err := v.visit(at, stored)
	if err == nil {
		return
	}
	if v.unreadable++; v.unreadable > maxUnreadable {
		v.faults++
		return
	}
	v.reportFault(fmt.Errorf("%s cannot be read: %w", at, err))
}

func (v *verification) checkItems(at Revision) error {
	if v.visit == nil {
		return nil
	}
	parts, _, err := loadParts(v.o.FS, v.dir, at)
	if err != nil {
		return err
	}
	err = parts.each(func(i Item) error {
		v.checkValue(Place{Key: i.Key, Revision: i.Revision}, i.Value)
		return nil
	})
	return errors.Join(err, parts.Close())
}

func (v *verification) commitVisitor() func(Commit) error {
	if v.visit == nil {
		return nil
	}
	return func(c Commit) error {
		v.checkValue(Place{Key: c.Key, Revision: c.Revision}, c.Value)
		v.checkValue(Place{Key: c.Key, Revision: c.Revision, Metadata: true}, c.Metadata)
		return nil
	}
}

func (v *verification) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(v.out, format+"\n", args...); err != nil && v.err == nil {
		v.err = err
	}
}

// reportFault lets Verify continue, because operators need all faults to decide between restoring a
// backup and keeping the remaining data.
func (v *verification) reportFault(err error) {
	v.faults++
	v.printf("FAULT %v", err)
}

func (v *verification) checkMetadataFiles() error {
	if formatOf, err := checkFormat(v.o.FS, v.dir); err != nil {
		v.reportFault(err)
	} else {
		v.format = formatOf
		v.printf("format %d", formatOf)
	}
	if names, err := v.o.FS.ReadDir(v.dir); err != nil {
		return err
	} else if !slices.Contains(names, lockFile) {
		v.reportFault(&DataLossError{File: filepath.Join(v.dir, lockFile), What: "is missing"})
	}
	labels, err := readLabels(v.o.FS, v.dir)
	if err != nil {
		v.reportFault(err)
		return nil
	}
	v.labelled = true
	v.printf("labels %d", len(labels))
	return nil
}

// checkFiles does nothing if the labels are unreadable, because the check requires them and the
// fault has already been reported.
func (v *verification) checkFiles() error {
	if v.files == nil || !v.labelled {
		return nil
	}
	faults, err := v.files(v.dir)
	for _, fault := range faults {
		v.reportFault(fault)
	}
	return err
}

func (v *verification) checkSnapshots() error {
	list, err := listSnapshots(v.o.FS, v.dir)
	if err != nil {
		return err
	}
	for _, at := range list {
		v.newest = max(v.newest, at)
		m, err := v.checkSnapshot(at)
		if errors.Is(err, fs.ErrNotExist) && v.wasReplaced(at) {
			continue
		}
		if err != nil {
			v.reportFault(err)
			continue
		}
		v.base = max(v.base, at)
		v.printf("snapshot %s: revision %d, %d items, %d bytes", fileName(at, snapshotSuffix), at, m.Items, m.Bytes)
	}
	return nil
}

func (v *verification) wasReplaced(at Revision) bool {
	list, err := listSnapshots(v.o.FS, v.dir)
	return err == nil && len(list) > 0 && list[0] > at
}

func (v *verification) checkSnapshot(at Revision) (manifest, error) {
	m, err := readManifest(v.o.FS, v.dir, at)
	if err != nil {
		return m, err
	}
	r, file, err := openSnapshot(v.o.FS, snapshotPath(v.dir, at), m)
	if err != nil {
		return m, err
	}
	_, err = io.Copy(io.Discard, r)
	if err = errors.Join(err, file.Close()); err != nil {
		return m, err
	}
	return m, v.checkItems(at)
}

// checkJournal checks all segments of the journal. If the journal ends before the newest snapshot,
// for example after an accepted loss, it only prints a note, because checkControlFile detects lost
// data.
func (v *verification) checkJournal() error {
	segments, err := listSegments(v.o.FS, journalDir(v.dir))
	if err != nil {
		return err
	}
	if len(segments) > 0 && segments[0].first > v.base+1 {
		v.reportFault(&CorruptError{File: segments[0].path, What: fmt.Sprintf(
			"the journal begins with revision %d, the newest intact snapshot is at %d", segments[0].first, v.base)})
	}
	var next Revision
	for i, s := range segments {
		v.first = segments[0].first
		if next != 0 && s.first != next {
			v.reportFault(&CorruptError{File: s.path, What: fmt.Sprintf("the segment before ends with revision %d", next-1)})
		}
		if next = v.checkSegment(scan{segment: s, newest: i == len(segments)-1, successor: nextFirst(segments, i)}); v.err != nil {
			return v.err
		}
	}
	v.last = max(next, 1) - 1
	if next != 0 && next <= v.newest {
		v.printf("note: the journal ends at revision %d, before the snapshot at %d", next-1, v.newest)
	}
	return nil
}

func (v *verification) checkArchive() error {
	segments, err := listArchive(v.o.FS, v.dir)
	if err != nil {
		return err
	}
	ends := map[Revision]Revision{} // ends of archived segments by first revision
	for i, s := range segments {
		if ends[s.first] = v.checkSegment(scan{segment: s, successor: cmp.Or(nextFirst(segments, i), v.first)}); v.err != nil {
			return v.err
		}
	}
	const maxTries = 10
	for n := 0; ; n++ {
		fault, err := v.findGap(ends)
		if err != nil || fault == nil {
			return err
		}
		// A running daemon may have moved or removed segments concurrently.
		if again, err := v.findGap(ends); n >= maxTries || err != nil || again != nil && again.Error() == fault.Error() {
			v.reportFault(fault)
			return err
		}
	}
}

// findGap returns the first unexpected gap or overlap between segments of the archive and the
// journal.
func (v *verification) findGap(ends map[Revision]Revision) (*CorruptError, error) {
	labels, err := readLabels(v.o.FS, v.dir)
	if err != nil {
		return nil, nil // already reported as a fault
	}
	known := revisionsIn(labels[archiveLabel])
	active, err := listSegments(v.o.FS, journalDir(v.dir))
	if err != nil || len(known) == 0 {
		return nil, err
	}
	// List the archive last, so that a concurrently archived segment is not missed.
	archived, err := listArchive(v.o.FS, v.dir)
	if err != nil {
		return nil, err
	}
	next := known[0]
	var before segment
	for i, s := range append(archived, active...) {
		isActive := i >= len(archived)
		switch {
		case s.first < known[0] && !isActive: // older than the part known to be contiguous
			continue
		case isActive && i > len(archived):
			return nil, nil // checkJournal checks the rest
		case next > 0 && s.first < next && before.path != "":
			return &CorruptError{File: s.path, What: fmt.Sprintf("%s already has the revisions from %d on", before.path, s.first)}, nil
		case next > 0 && s.first > next && !slices.Contains(revisionsIn(labels[gapsLabel]), s.first):
			return &CorruptError{File: s.path, What: fmt.Sprintf("revisions %d to %d are missing before it: a segment of the archive is lost", next, s.first-1)}, nil
		}
		before = s
		if end, ok := ends[s.first]; ok && !isActive {
			next = end // 0 if the segment is damaged
		} else {
			next = 0 // the segment was archived after it was read
		}
	}
	if len(active) == 0 && before.path == "" {
		return &CorruptError{File: archiveDir(v.dir), What: fmt.Sprintf("the segments from revision %d on are missing", next)}, nil
	}
	return nil, nil
}

// checkControlFile compares the journal's end with the control file. It retries if a running daemon
// changes the file.
func (v *verification) checkControlFile() error {
	if v.format != directoryFormat {
		return nil
	}
	const maxTries = 10
	for n := 0; ; n++ {
		m, fault, err := readControl(v.o.FS, v.dir)
		if err != nil || fault != nil {
			if n < maxTries && !errors.Is(err, fs.ErrNotExist) {
				continue // the file may have been read during a write
			}
			v.reportFault(errors.Join(err, asFault(fault)))
			return nil
		}
		loss, err := v.findLoss(m)
		if err != nil || loss == nil {
			if err == nil {
				v.printf("control file: the end is marked at revision %d, no revision above %d was assigned", m.newest, m.maxRevision)
			}
			return err
		}
		if again, _, err := readControl(v.o.FS, v.dir); n >= maxTries || err != nil || again.sequence == m.sequence {
			v.reportFault(loss)
			return nil
		}
	}
}

func (v *verification) findLoss(m watermark) (*DataLossError, error) {
	segments, err := listSegments(v.o.FS, journalDir(v.dir))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(segments, func(s segment) bool { return s.first == m.segment })
	if m.segment > 0 && i < 0 {
		return m.segmentLoss(v.dir), nil
	}
	last := max(v.last, v.base)
	if i >= 0 {
		done, err := scan{fs: v.o.FS, segment: segments[i], newest: true, sumOffset: m.end}.run(nil)
		corrupt := (*CorruptError)(nil)
		switch what := m.missingFrom(done); {
		case err == nil && what != "":
			return &DataLossError{File: segments[i].path, What: what}, nil
		case err != nil && !errors.As(err, &corrupt) && !errors.Is(err, fs.ErrNotExist): // else reported, or dropped concurrently
			return nil, err
		}
		last = max(last, done.next-1)
	}
	if last < m.newest {
		return m.revisionLoss(v.dir, last), nil
	}
	return nil, nil
}

// checkSegment scans a segment and returns the expected next revision, or 0 if the segment is
// damaged.
func (v *verification) checkSegment(s scan) Revision {
	var from, to int64
	s.fs = v.o.FS
	done, err := s.run(func(f frame, payload []byte) error {
		from, to = cmp.Or(from, f.time), f.time
		return decodeRecords(f, payload, v.commitVisitor())
	})
	if errors.Is(err, fs.ErrNotExist) {
		return 0 // the segment was dropped concurrently
	}
	written := ""
	if done.batches > 0 {
		written = fmt.Sprintf(", written %s to %s", timeText(from), timeText(to))
	}
	v.printf("segment %s: %d batches, revisions %d to %d, %d bytes%s", filepath.Base(s.segment.path), done.batches, s.segment.first, done.next-1, done.end, written)
	if err != nil {
		v.reportFault(err)
		return 0
	}
	if done.torn != "" && !s.newest {
		v.printf("note: %s after offset %d: the rest is not part of the journal, which continues in the next segment", done.torn, done.end)
	} else if done.torn != "" {
		v.printf("note: %s after offset %d: a write that was cut short or is under way", done.torn, done.end)
	}
	return done.next
}

func timeText(at int64) string { return time.Unix(0, at).UTC().Format(time.RFC3339Nano) }

func asFault(fault *CorruptError) error {
	if fault == nil {
		return nil
	}
	return fault
}
