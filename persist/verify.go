package persist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
)

// Verify reads every byte of a data directory, compares it with its checksums and writes what
// it found to out, a line each. ok says that there is no fault. It takes no lock and changes
// nothing, so the directory may be in use: bytes behind the last batch are then a write that
// is under way, and are no fault.
func Verify(dir string, out io.Writer) (ok bool, err error) { return verify(dir, out, Options{}) }

func verify(dir string, out io.Writer, o Options) (bool, error) {
	v := &verification{dir: dir, out: out, o: o.withDefaults()}
	v.say("directory %s", dir)
	for _, step := range []func() error{v.small, v.snapshots, v.journal} {
		if err := step(); err != nil {
			return false, err
		}
	}
	v.say("%d faults", v.faults)
	return v.faults == 0, v.err
}

// A verification is one run of Verify.
type verification struct {
	dir    string
	out    io.Writer
	o      Options
	base   Revision // of the newest intact snapshot
	newest Revision // of all snapshots
	faults int
	err    error // of out
}

func (v *verification) say(format string, args ...any) {
	if _, err := fmt.Fprintf(v.out, format+"\n", args...); err != nil && v.err == nil {
		v.err = err
	}
}

func (v *verification) fault(err error) {
	v.faults++
	v.say("FAULT %v", err)
}

func (v *verification) small() error {
	if err := checkFormat(v.o.FS, v.dir); err != nil {
		v.fault(err)
	} else {
		v.say("format %d", formatVersion)
	}
	labels, err := readLabels(v.o.FS, v.dir)
	if err != nil {
		v.fault(err)
		return nil
	}
	v.say("labels %d", len(labels))
	return nil
}

func (v *verification) snapshots() error {
	list, err := listSnapshots(v.o.FS, v.dir)
	if err != nil {
		return err
	}
	for _, at := range list {
		v.newest = max(v.newest, at)
		m, err := v.snapshot(at)
		if errors.Is(err, fs.ErrNotExist) && v.replaced(at) {
			continue
		}
		if err != nil {
			v.fault(err)
			continue
		}
		v.base = max(v.base, at)
		v.say("snapshot %s: revision %d, %d items, %d bytes", fileName(at, snapshotSuffix), at, m.Items, m.Bytes)
	}
	return nil
}

// replaced says that a snapshot went away because a newer one took its place meanwhile.
func (v *verification) replaced(at Revision) bool {
	list, err := listSnapshots(v.o.FS, v.dir)
	return err == nil && len(list) > 0 && list[0] > at
}

func (v *verification) snapshot(at Revision) (manifest, error) {
	m, err := readManifest(v.o.FS, v.dir, at)
	if err != nil {
		return m, err
	}
	r, file, err := openSnapshot(v.o.FS, snapshotPath(v.dir, at), m)
	if err != nil {
		return m, err
	}
	_, err = io.Copy(io.Discard, r)
	return m, errors.Join(err, file.Close())
}

func (v *verification) journal() error {
	segments, err := listSegments(v.o.FS, journalDir(v.dir))
	if err != nil {
		return err
	}
	if len(segments) > 0 && segments[0].first > v.base+1 {
		v.fault(&CorruptError{File: segments[0].path, What: fmt.Sprintf(
			"the journal begins with revision %d, the newest intact snapshot is at %d", segments[0].first, v.base)})
	}
	var next Revision
	for i, s := range segments {
		if next != 0 && s.first != next {
			v.fault(&CorruptError{File: s.path, What: fmt.Sprintf("the segment before ends with revision %d", next-1)})
		}
		if next = v.segment(s, i == len(segments)-1); v.err != nil {
			return v.err
		}
	}
	if next != 0 && next <= v.newest {
		v.say("note: the journal ends at revision %d, before the snapshot at %d", next-1, v.newest)
	}
	return nil
}

// segment checks one segment and answers the revision that must follow, 0 if nobody can tell.
func (v *verification) segment(s segment, newest bool) Revision {
	done, err := scan{fs: v.o.FS, segment: s, newest: newest}.run(func(f frame, payload []byte) error {
		return decodeRecords(f, payload, nil)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return 0 // dropped meanwhile
	}
	v.say("segment %s: %d batches, revisions %d to %d, %d bytes", filepath.Base(s.path), done.batches, s.first, done.next-1, done.end)
	if err != nil {
		v.fault(err)
		return 0
	}
	if done.torn != "" {
		v.say("note: %s after offset %d: a write that was cut short or is under way", done.torn, done.end)
	}
	return done.next
}
