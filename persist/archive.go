package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/troupe-api/troupe/persist/vfs"
)

func listArchive(fsys vfs.FS, dir string) ([]segment, error) {
	list, err := listSegments(fsys, archiveDir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return list, err
}

// retire moves an obsolete segment to the archive. If archiving is off or the disk is full, it
// removes the segment and empties the archive to avoid a gap. The caller holds j.filesMu.
func (j *Journal) retire(s segment) error {
	if j.o.ArchiveBytes > 0 && !j.ballast.full.Load() {
		if err := j.archive(s); !isFull(err) {
			return err
		}
	}
	_, err := j.limitArchive(0)
	return errors.Join(err, removeSegment(j.fs, s.path))
}

// removeSegment durably renames an obsolete segment before removing it. Some file systems (ext4
// with data=writeback) reuse a removed file's blocks before the removal is durable. After a power
// loss, the file could then reappear with the content of another file. removeOrphans deletes the
// renamed files.
func removeSegment(fsys vfs.FS, path string) error {
	gone, dir := path+tempSuffix, filepath.Dir(path)
	err := fsys.Rename(path, gone)
	switch {
	case isFull(err):
		gone = path // no space for the rename
	case errors.Is(err, fs.ErrNotExist): // by an earlier attempt that failed afterwards
	case err != nil:
		return err
	default:
		if err := fsys.SyncDir(dir); err != nil && !isFull(err) {
			return err
		}
	}
	return errors.Join(removeIfThere(fsys, gone), fsys.SyncDir(dir))
}

// archive moves a segment to the archive. It makes the new name durable before it removes the old
// one.
func (j *Journal) archive(s segment) error {
	dir := archiveDir(j.dir)
	if err := errors.Join(j.fs.MkdirAll(dir), j.fs.SyncDir(j.dir)); err != nil {
		return err
	}
	if err := j.beginArchive(s); err != nil {
		return err
	}
	if err := j.fs.Rename(s.path, filepath.Join(dir, filepath.Base(s.path))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := errors.Join(j.fs.SyncDir(dir), j.fs.SyncDir(journalDir(j.dir))); err != nil {
		return err
	}
	_, err := j.limitArchive(j.o.ArchiveBytes)
	return err
}

// limitArchive removes the oldest archived segments until the archive fits into limit bytes. It
// reports whether it removed any.
func (j *Journal) limitArchive(limit int64) (removed bool, err error) {
	list, err := listArchive(j.fs, j.dir)
	if err != nil {
		return false, err
	}
	kept := int64(0)
	for i := len(list) - 1; i >= 0; i-- {
		size, err := sizeOf(j.fs, list[i].path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		if kept += size; kept <= limit {
			continue
		}
		// Write the label with the new start of the archive before removing files, so that a crash
		// leaves no gap. On a full disk, the label may need the space of the removed segments.
		full := j.moveArchive(list[i+1:])
		if full != nil && !isFull(full) {
			return false, full
		}
		for _, old := range list[:i+1] {
			if err := removeSegment(j.fs, old.path); err != nil {
				return removed, err
			}
			removed = true
		}
		if full != nil {
			if err := j.moveArchive(list[i+1:]); !isFull(err) {
				return removed, err
			}
		}
		return removed, nil
	}
	return false, nil
}

// beginArchive records where the archive starts. Archives of earlier releases may have gaps before
// that point.
func (j *Journal) beginArchive(s segment) error {
	list, err := listArchive(j.fs, j.dir)
	if err != nil {
		return err
	}
	from, _ := j.Label(archiveLabel)
	if from != "" && len(list) > 0 {
		return nil
	}
	if from != "" && from != fmt.Sprint(s.first) {
		j.o.Logger.Error("the journal archive is lost; starting a new one", "dir", archiveDir(j.dir), "from", from)
	}
	return j.setLabel(archiveLabel, fmt.Sprint(s.first))
}

func (j *Journal) moveArchive(left []segment) error {
	from, _ := j.Label(archiveLabel)
	switch known := revisionsIn(from); {
	case len(left) == 0 && from != "":
		return j.setLabel(archiveLabel, "")
	case len(left) > 0 && len(known) > 0 && known[0] < left[0].first:
		return j.setLabel(archiveLabel, fmt.Sprint(left[0].first))
	}
	return nil
}

func sizeOf(fsys vfs.FS, path string) (int64, error) {
	file, err := fsys.Open(path)
	if err != nil {
		return 0, err
	}
	size, err := file.Size()
	return size, errors.Join(err, file.Close())
}

func (j *Journal) dropArchive() bool {
	removed, err := j.limitArchive(0)
	if err != nil {
		j.o.Logger.Warn("cannot remove the journal archive", "dir", j.dir, "error", err)
	}
	if removed {
		j.o.Logger.Warn("the disk is full: removed the journal archive and its points in time", "dir", j.dir)
	}
	return removed
}
