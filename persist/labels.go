package persist

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/persist/vfs"
)

const (
	labelsFile = "labels"
	// historyLabel is a random name for the one history of a data directory. A directory that is restored begins another one.
	historyLabel = "history"
	// archiveLabel is the first revision from which on archive and journal have no gap but those of gapsLabel.
	archiveLabel = LocalLabel + "archive"
	// gapsLabel names the revisions that follow on a gap, which a loss that was accepted has left.
	gapsLabel = LocalLabel + "gaps"
	// LocalLabel begins the names of labels that describe a directory rather than its state. A backup, and
	// a directory that is made of a state, has none of them.
	LocalLabel = "local/"
)

// stateLabels is a copy of labels without those of the directory.
func stateLabels(labels map[string]string) map[string]string {
	labels = maps.Clone(labels)
	maps.DeleteFunc(labels, func(name, _ string) bool { return strings.HasPrefix(name, LocalLabel) })
	return labels
}

// Labels reads the labels of a data directory, which may be in use.
func Labels(dir string) (map[string]string, error) { return readLabels(vfs.OS{}, dir) }

// withHistory is a copy of labels with a new history.
func withHistory(labels map[string]string) map[string]string {
	labels = maps.Clone(labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[historyLabel] = rand.Text()
	return labels
}

// readLabels answers the labels of a data directory. If there is data, a missing file is a data loss.
func readLabels(fsys vfs.FS, dir string) (map[string]string, error) {
	labels := map[string]string{}
	path := filepath.Join(dir, labelsFile)
	err := readChecksummed(fsys, path, &labels)
	if !errors.Is(err, fs.ErrNotExist) {
		return labels, err
	}
	if used, err := holdsData(fsys, dir); err != nil || !used {
		return labels, err
	}
	return labels, &DataLossError{File: path, What: "is missing"}
}

// HoldsState says whether a directory is a data directory with a snapshot or a journal in it.
func HoldsState(dir string) (bool, error) {
	if _, err := os.Stat(filepath.Join(dir, formatFile)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return holdsData(vfs.OS{}, dir)
}

// holdsData says whether a directory has a snapshot or a journal.
func holdsData(fsys vfs.FS, dir string) (bool, error) {
	segments, err := listSegments(fsys, journalDir(dir))
	if err != nil || len(segments) > 0 {
		return len(segments) > 0, err
	}
	snapshots, err := listSnapshots(fsys, dir)
	return len(snapshots) > 0, err
}

// labels are the labels of an open data directory.
type labels struct {
	writing sync.Mutex // held while the file is written
	// values is replaced and never changed in place, because a Backup that is under way still reads the old one.
	values atomic.Pointer[map[string]string]
}

// replace makes other labels durable.
func (l *labels) replace(fsys vfs.FS, dir string, values map[string]string) error {
	err := writeChecksummed(fsys, filepath.Join(dir, labelsFile), values)
	if err == nil {
		l.values.Store(&values)
	}
	return err
}

// Label answers a durable property of the data directory, such as the naming profile.
func (j *Journal) Label(name string) (value string, ok bool) {
	value, ok = (*j.labels.values.Load())[name]
	return value, ok
}

// SetLabel makes a label durable; after an error the old value stays in force. Labels are
// part of a backup. It may be called at any time between Open and Close.
func (j *Journal) SetLabel(name, value string) error {
	j.filesMu.Lock()
	defer j.filesMu.Unlock()
	return j.setLabel(name, value)
}

func (j *Journal) setLabel(name, value string) error {
	j.labels.writing.Lock()
	defer j.labels.writing.Unlock()
	if j.status.isClosed() {
		return errClosed
	}
	values := maps.Clone(*j.labels.values.Load())
	if values[name] == value {
		return nil
	}
	values[name] = value
	return noSpace(j.labels.replace(j.fs, j.dir, values))
}

// revisionsIn reads the revisions in a label.
func revisionsIn(label string) []Revision {
	var all []Revision
	for _, text := range strings.Fields(label) {
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			all = append(all, Revision(n))
		}
	}
	return all
}
