package audit

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// oldFiles are the files that a File has been, named as in audit-2026-11-21T12-00-00.000.log,
// in UTC, and with .gz behind it when it is compressed.
type oldFiles struct{ dir, prefix, suffix string }

const (
	oldTime      = "2006-01-02T15-04-05.000"
	packedSuffix = ".gz"
	unfinished   = ".tmp"
)

func (f *File) old() oldFiles {
	dir, base := filepath.Split(f.options.Path)
	suffix := filepath.Ext(base)
	return oldFiles{dir: filepath.Clean(dir + "."), prefix: strings.TrimSuffix(base, suffix) + "-", suffix: suffix}
}

func (o oldFiles) name(at time.Time) string {
	return filepath.Join(o.dir, o.prefix+at.UTC().Format(oldTime)+o.suffix)
}

// An oldFile is one of them.
type oldFile struct {
	path string
	at   time.Time
}

// list finds them, the newest first, and nothing else.
func (o oldFiles) list() (list []oldFile, err error) {
	entries, err := os.ReadDir(o.dir)
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), o.prefix)
		if !ok {
			continue
		}
		text, ok = strings.CutSuffix(strings.TrimSuffix(text, packedSuffix), o.suffix)
		at, fault := time.Parse(oldTime, text)
		if ok && fault == nil {
			list = append(list, oldFile{filepath.Join(o.dir, e.Name()), at})
		}
	}
	slices.SortFunc(list, func(a, b oldFile) int { return b.at.Compare(a.at) })
	return list, err
}

// clean removes those that are too many or too old, and compresses the others.
func (o oldFiles) clean(options *FileOptions) error {
	list, err := o.list()
	for i, f := range list {
		many := options.Backups > 0 && i >= options.Backups
		stale := options.MaxAge > 0 && options.Now().Sub(f.at) > options.MaxAge
		switch {
		case many || stale:
			err = errors.Join(err, os.Remove(f.path))
		case options.Compress && !strings.HasSuffix(f.path, packedSuffix):
			err = errors.Join(err, pack(f.path))
		}
	}
	return err
}

// pack compresses a file. The compressed one has its name only when it is whole.
func pack(path string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	part := path + packedSuffix + unfinished
	to, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(to)
	_, err = io.Copy(z, from)
	err = errors.Join(err, z.Close(), to.Sync(), to.Close())
	if err == nil {
		err = os.Rename(part, path+packedSuffix)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Remove(path)
}
