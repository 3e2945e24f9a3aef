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

// rotatedFiles describes the names of rotated files, such as audit-2026-11-21T12-00-00.000.log,
// with the time in UTC. Compressed files also end in .gz.
type rotatedFiles struct{ dir, prefix, suffix string }

const (
	rotatedTimeFormat = "2006-01-02T15-04-05.000"
	gzipSuffix        = ".gz"
	tempSuffix        = ".tmp"
)

func (f *File) rotated() rotatedFiles {
	dir, base := filepath.Split(f.options.Path)
	suffix := filepath.Ext(base)
	return rotatedFiles{dir: filepath.Clean(dir + "."), prefix: strings.TrimSuffix(base, suffix) + "-", suffix: suffix}
}

func (o rotatedFiles) name(at time.Time) string {
	return filepath.Join(o.dir, o.prefix+at.UTC().Format(rotatedTimeFormat)+o.suffix)
}

type rotatedFile struct {
	path string
	at   time.Time
}

// list returns the rotated files, newest first. Names must match exactly, because cleanUp must not
// delete other files in the directory.
func (o rotatedFiles) list() (list []rotatedFile, err error) {
	entries, err := os.ReadDir(o.dir)
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), o.prefix)
		if !ok {
			continue
		}
		text, ok = strings.CutSuffix(strings.TrimSuffix(text, gzipSuffix), o.suffix)
		at, fault := time.Parse(rotatedTimeFormat, text)
		if ok && fault == nil {
			list = append(list, rotatedFile{filepath.Join(o.dir, e.Name()), at})
		}
	}
	slices.SortFunc(list, func(a, b rotatedFile) int { return b.at.Compare(a.at) })
	return list, err
}

// cleanUp removes files beyond MaxBackups or MaxAge, and compresses the others if enabled. It
// continues after errors.
func (o rotatedFiles) cleanUp(options *FileOptions) error {
	list, err := o.list()
	for i, f := range list {
		many := options.MaxBackups > 0 && i >= options.MaxBackups
		stale := options.MaxAge > 0 && options.Now().Sub(f.at) > options.MaxAge
		switch {
		case many || stale:
			err = errors.Join(err, os.Remove(f.path))
		case options.Compress && !strings.HasSuffix(f.path, gzipSuffix):
			err = errors.Join(err, compressFile(f.path))
		}
	}
	return err
}

func compressFile(path string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	part := path + gzipSuffix + tempSuffix
	to, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(to)
	_, err = io.Copy(z, from)
	err = errors.Join(err, z.Close(), to.Sync(), to.Close())
	if err == nil {
		err = os.Rename(part, path+gzipSuffix)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Remove(path)
}
