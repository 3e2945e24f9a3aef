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
	// historyLabel contains the random name of a data directory's history. A restored directory
	// gets a new name.
	historyLabel = "history"
	// archiveLabel contains the revision after which archive and journal together contain all
	// commits, except for the gaps listed in gapsLabel.
	archiveLabel = LocalLabel + "archive"
	// gapsLabel lists the first revision after each gap left by an accepted data loss.
	gapsLabel = LocalLabel + "gaps"
	// LocalLabel is the prefix of labels that describe the directory, not its state. Backups and
	// directories created from a state omit them.
	LocalLabel = "local/"
)

func stateLabels(labels map[string]string) map[string]string {
	labels = maps.Clone(labels)
	maps.DeleteFunc(labels, func(name, _ string) bool { return strings.HasPrefix(name, LocalLabel) })
	return labels
}

// Labels returns the labels of a data directory, even while a process uses it.
func Labels(dir string) (map[string]string, error) { return readLabels(vfs.OS{}, dir) }

func withHistory(labels map[string]string) map[string]string {
	labels = maps.Clone(labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[historyLabel] = rand.Text()
	return labels
}

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

// StoredLabels returns the labels of a backup or a data directory.
func StoredLabels(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || info.IsDir() {
		return readLabels(vfs.OS{}, path)
	}
	in := &backupReader{r: file}
	err = in.open()
	return in.head.Labels, err
}

// HoldsState reports whether dir is a data directory with a snapshot or a journal.
func HoldsState(dir string) (bool, error) {
	if _, err := os.Stat(filepath.Join(dir, formatFile)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return holdsData(vfs.OS{}, dir)
}

func holdsData(fsys vfs.FS, dir string) (bool, error) {
	segments, err := listSegments(fsys, journalDir(dir))
	if err != nil || len(segments) > 0 {
		return len(segments) > 0, err
	}
	snapshots, err := listSnapshots(fsys, dir)
	return len(snapshots) > 0, err
}

type labels struct {
	writing sync.Mutex // held while the file is written
	// values is replaced as a whole, because a running Backup may still read the old map.
	values atomic.Pointer[map[string]string]
}

func (l *labels) replace(fsys vfs.FS, dir string, values map[string]string) error {
	err := writeChecksummed(fsys, filepath.Join(dir, labelsFile), values)
	if err == nil {
		l.values.Store(&values)
	}
	return err
}

// Label returns a durable property of the data directory, such as the naming profile. ok is false
// if the property is not set.
func (j *Journal) Label(name string) (value string, ok bool) {
	value, ok = (*j.labels.values.Load())[name]
	return value, ok
}

// SetLabel makes a label durable. After an error the old value remains. SetLabel may be called at
// any time between Open and Close.
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

func revisionsIn(label string) []Revision {
	var all []Revision
	for _, text := range strings.Fields(label) {
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			all = append(all, Revision(n))
		}
	}
	return all
}
