package persist

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/tidwall/buntdb"
	"golang.org/x/sync/errgroup"

	"github.com/troupe-api/troupe/persist/vfs"
)

// snapshotParts is a snapshot in memory, with one BuntDB per part.
type snapshotParts []*buntdb.DB

// loadParts reads and verifies a snapshot. The caller must close it.
func loadParts(fs vfs.FS, dir string, at Revision) (snapshotParts, manifest, error) {
	m, err := readManifest(fs, dir, at)
	if err != nil {
		return nil, m, err
	}
	r, file, err := openSnapshot(fs, snapshotPath(dir, at), m)
	if err != nil {
		return nil, m, err
	}
	parts, err := readParts(r, m)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, m, errors.Join(err, parts.Close())
	}
	return parts, m, nil
}

func readParts(r *blockReader, m manifest) (snapshotParts, error) {
	bounds := append(append([]int64{0}, m.Parts...), m.Bytes)
	parts, errs := make(snapshotParts, len(bounds)-1), make([]error, len(bounds)-1)
	var loading errgroup.Group
	loading.SetLimit(runtime.GOMAXPROCS(0))
	for i := range parts {
		loading.Go(func() error {
			parts[i], errs[i] = readPart(r, bounds[i], bounds[i+1])
			return nil
		})
	}
	_ = loading.Wait() // the errors are in errs
	err := errors.Join(errs...)
	if items := parts.count(); err == nil && items != m.Items {
		err = errItemCount(r.path, items, m.Items)
	}
	return parts, err
}

func readPart(r *blockReader, from, to int64) (*buntdb.DB, error) {
	part, err := r.part(from, to)
	if err != nil {
		return nil, err
	}
	return loadMemory(part)
}

func (p snapshotParts) count() (items int64) {
	for _, db := range p {
		items += itemCount(db)
	}
	return items
}

// each passes the items to fn in ascending key order. It closes each part after use to free its
// memory.
func (p snapshotParts) each(fn func(Item) error) error {
	for i, db := range p {
		p[i] = nil
		if err := errors.Join(eachItem(db, fn), db.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the parts that each has not closed yet.
func (p snapshotParts) Close() (err error) {
	for _, db := range p {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	return err
}

// errItemCount reports damage that checksums do not detect. BuntDB files are logs of commands, so a
// file truncated between two commands looks complete.
func errItemCount(path string, have, want int64) error {
	return &CorruptError{File: path, What: fmt.Sprintf("it holds %d items instead of %d", have, want)}
}
