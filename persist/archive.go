package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/troupe-api/troupe/persist/vfs"
)

// listArchive answers the archived segments of a data directory in ascending order.
func listArchive(fsys vfs.FS, dir string) ([]segment, error) {
	list, err := listSegments(fsys, archiveDir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return list, err
}

// retire archives a segment that neither recovery nor the history needs any more, or removes it. The caller holds j.filesMu.
//
// The archive has no gap, so it goes when a segment is not archived: because of the settings, or on a full disk.
func (j *Journal) retire(s segment) error {
	if j.o.ArchiveBytes > 0 && !j.ballast.full.Load() {
		if err := j.archive(s); !isFull(err) {
			return err
		}
	}
	_, err := j.limitArchive(0)
	return errors.Join(err, removeSegment(j.fs, s.path))
}

// removeSegment removes a segment that is superfluous. It loses its name first, durably: some file systems (ext4 with data=writeback) give
// the blocks of a removed file to others before the removal is durable, and a power cut brings the file back with what those have
// written. What comes back here is no segment; removeOrphans removes it.
func removeSegment(fsys vfs.FS, path string) error {
	gone, dir := path+tempSuffix, filepath.Dir(path)
	err := fsys.Rename(path, gone)
	switch {
	case isFull(err):
		gone = path // which has to do then
	case errors.Is(err, fs.ErrNotExist): // by an attempt that failed after it
	case err != nil:
		return err
	default:
		if err := fsys.SyncDir(dir); err != nil && !isFull(err) {
			return err
		}
	}
	return errors.Join(removeIfThere(fsys, gone), fsys.SyncDir(dir))
}

// archive moves a segment. Its new name is durable before the old one has gone for good; if the move was done by an earlier attempt that
// failed after it, it is not there any more.
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

// limitArchive removes the oldest segments of the archive until it takes no more than so many bytes, and says whether it removed any.
func (j *Journal) limitArchive(most int64) (removed bool, err error) {
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
		if kept += size; kept <= most {
			continue
		}
		// Where it begins is recorded first, and the oldest are removed first, so that what is left has no
		// gap whenever a crash happens. A full disk may need the room of the removed ones for that.
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

// beginArchive records where the archive begins, if s is the first of it. What an earlier release has archived may have gaps.
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
		j.o.Logger.Error("the archive of the journal is lost, and begins anew", "dir", archiveDir(j.dir), "from", from)
	}
	return j.setLabel(archiveLabel, fmt.Sprint(s.first))
}

// moveArchive records that the archive begins with the first of the segments that are left.
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

// dropArchive gives up the archive on a full disk, and says whether there was one.
func (j *Journal) dropArchive() bool {
	removed, err := j.limitArchive(0)
	if err != nil {
		j.o.Logger.Warn("the archive of the journal cannot be given up", "dir", j.dir, "error", err)
	}
	if removed {
		j.o.Logger.Warn("the disk is full: the archive of the journal was given up, and with it the points that it led to", "dir", j.dir)
	}
	return removed
}
