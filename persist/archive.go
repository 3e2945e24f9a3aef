package persist

import (
	"errors"
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
// On a full disk nothing is archived: what is there has just been dropped.
func (j *Journal) retire(s segment) error {
	if j.o.ArchiveBytes > 0 && !j.ballast.full.Load() {
		if err := j.archive(s); !isFull(err) {
			return err
		}
	}
	return removeSegment(j.fs, s.path)
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
		// Oldest first, so that what is left has no gap whenever a crash happens.
		for _, old := range list[:i+1] {
			if err := removeSegment(j.fs, old.path); err != nil {
				return removed, err
			}
			removed = true
		}
		return removed, nil
	}
	return false, nil
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
