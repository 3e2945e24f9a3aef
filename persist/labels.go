package persist

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"

	"github.com/troupe-api/troupe/persist/vfs"
)

const labelsFile = "labels"

// readLabels answers the labels of a data directory; a missing file holds none.
func readLabels(fsys vfs.FS, dir string) (map[string]string, error) {
	labels := map[string]string{}
	err := readSealed(fsys, filepath.Join(dir, labelsFile), &labels)
	if errors.Is(err, fs.ErrNotExist) {
		return labels, nil
	}
	return labels, err
}

// Label answers a durable remark about the data directory, such as the naming profile.
func (j *Journal) Label(name string) (value string, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	value, ok = j.labels[name]
	return value, ok
}

// SetLabel makes a remark durable; after an error the old value stays in force. Labels are
// part of a backup. It may be called at any time between Open and Close.
func (j *Journal) SetLabel(name, value string) error {
	j.maint.Lock()
	defer j.maint.Unlock()
	j.mu.Lock()
	labels, closed := maps.Clone(j.labels), j.closed
	j.mu.Unlock()
	if closed {
		return errClosed
	}
	labels[name] = value
	if err := writeSealed(j.fs, filepath.Join(j.dir, labelsFile), labels); err != nil {
		return noSpace(err)
	}
	j.mu.Lock()
	j.labels = labels
	j.mu.Unlock()
	return nil
}
