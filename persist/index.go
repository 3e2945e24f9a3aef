package persist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/persist/vfs"
)

const (
	indexMagic   = "TROUPEIX"
	indexVersion = 1
	indexHeader  = 64
	indexEntry   = 8
	indexSuffix  = ".index"
)

func indexDir(dir string) string { return filepath.Join(dir, "index") }

func indexPath(dir string, first Revision) string {
	return filepath.Join(indexDir(dir), fileName(first, indexSuffix))
}

// An index locates the writes of each key in the batches of one segment up to end. An entry is the
// checksum of the key in the upper half and the batch's offset, divided by frameAlign, in the lower
// half. Keys with the same checksum only cost a read of each other's batches.
type index struct {
	first   Revision // of the segment
	last    Revision // of the last batch
	end     int64    // end offset of the last batch
	tail    int64    // offset of the last batch; 0: there is none
	sum     uint32   // checksum in the header of the last batch
	count   int64    // entries of the file
	entries []uint64 // of an index without a file
	sorted  bool     // whether entries are sorted
}

// indexes holds the indexes in use. Nothing is indexed before the first read of the past.
type indexes struct {
	mu     sync.Mutex          // held while an index is built or checked
	sealed map[Revision]*index // whose files were checked
	active *index              // 8 bytes for each write of the active segment
}

func newIndex(first Revision) *index {
	return &index{first: first, last: first - 1, end: segmentHeader}
}

func (x *index) header(sum uint32) []byte {
	b := make([]byte, indexHeader)
	copy(b, indexMagic)
	le.PutUint32(b[12:], indexVersion)
	le.PutUint64(b[16:], uint64(x.first))
	le.PutUint64(b[24:], uint64(x.last))
	le.PutUint64(b[32:], uint64(x.tail))
	le.PutUint32(b[40:], x.sum)
	le.PutUint32(b[44:], sum)
	le.PutUint64(b[48:], uint64(x.count))
	le.PutUint32(b[8:], checksum(b[12:]))
	return b
}

// locate sets the index of an open segment. It reads the index file of a sealed segment, or builds
// the index if the file is missing or damaged.
func (p *Past) locate(s *pastSegment) error {
	if s.index != nil {
		return nil
	}
	j, all := p.j, &p.j.indexes
	all.mu.Lock()
	defer all.mu.Unlock()
	if s.index = all.sealed[s.first]; s.index != nil {
		return nil
	}
	if !s.active {
		x, err := readIndex(j.fs, indexPath(j.dir, s.first), s)
		if err == nil {
			all.keep(x)
			s.index = x
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			j.o.Logger.Warn("rebuilding the index of a segment", "segment", s.path, "error", err)
		}
	}
	x := all.active
	if x == nil || x.first != s.first {
		x = newIndex(s.first)
	}
	x, err := p.extend(x, s)
	if err != nil {
		return err
	}
	s.index = x
	if s.active {
		all.active = x
		return nil
	}
	if all.active != nil && all.active.first == s.first {
		all.active = nil
	}
	x.entries, x.sorted = slices.Compact(slices.Sorted(slices.Values(x.entries))), true // other readers use the old array
	x.count = int64(len(x.entries))
	if j.ballast.full.Load() {
		return nil
	}
	if err := x.write(j.fs, j.dir); err != nil {
		j.o.Logger.Warn("cannot store the index of a segment", "segment", s.path, "error", err)
		return nil
	}
	x.entries = nil
	all.keep(x)
	return nil
}

func (all *indexes) keep(x *index) {
	if all.sealed == nil {
		all.sealed = make(map[Revision]*index)
	}
	all.sealed[x.first] = x
}

// extend returns an index that also has the batches after x. It does not change x, which other
// readers may use.
func (p *Past) extend(x *index, s *pastSegment) (*index, error) {
	longer := *x
	sc := scan{segment: s.segment, successor: s.next, from: x.end, fromRevision: x.last + 1}
	_, err := sc.walk(&window{file: s.file, size: s.size}, func(f frame, payload []byte) error {
		if err := p.ctx.Err(); err != nil {
			return callbackError{err}
		}
		for len(payload) > 0 {
			c, rest, ok := decodeRecord(payload)
			if !ok {
				return errors.New("a write does not decode")
			}
			payload = rest
			longer.entries = append(longer.entries, entryOf(c.Key, f.offset))
		}
		longer.last, longer.tail, longer.sum, longer.end = f.last, f.offset, f.sum, f.offset+f.size()
		return nil
	})
	return &longer, err
}

func entryOf(key string, offset int64) uint64 {
	return uint64(checksum(bytesOf(key)))<<32 | uint64(offset/frameAlign)
}

// find returns the offsets of the batches that may write a key, in ascending order.
func (x *index) find(fsys vfs.FS, dir, key string) (offsets []int64, err error) {
	low := entryOf(key, 0)
	entries := x.entries
	switch {
	case x.count > 0 && entries == nil:
		if entries, err = x.read(fsys, dir, low); err != nil {
			return nil, err
		}
	case x.sorted:
		from, _ := slices.BinarySearch(entries, low)
		entries = entries[from:]
	}
	for _, e := range entries {
		if e>>32 == low>>32 {
			offsets = append(offsets, int64(e&(1<<32-1))*frameAlign)
		} else if x.sorted {
			break
		}
	}
	return slices.Compact(offsets), nil
}

// read reads the entries of one key from the file.
func (x *index) read(fsys vfs.FS, dir string, low uint64) ([]uint64, error) {
	file, err := fsys.Open(indexPath(dir, x.first))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	at := func(least uint64) (int, error) {
		return searchFirst(int(x.count), func(i int) (bool, error) {
			var b [indexEntry]byte
			err := readFull(file, b[:], indexHeader+indexEntry*int64(i))
			return le.Uint64(b[:]) >= least, err
		})
	}
	from, err := at(low)
	if err != nil {
		return nil, err
	}
	to, err := at(low + 1<<32)
	if err != nil {
		return nil, err
	}
	b := make([]byte, indexEntry*(max(from, to)-from))
	err = readFull(file, b, indexHeader+indexEntry*int64(from))
	return decodeEntries(b), err
}

func decodeEntries(b []byte) []uint64 {
	entries := make([]uint64, 0, len(b)/indexEntry)
	for ; len(b) >= indexEntry; b = b[indexEntry:] {
		entries = append(entries, le.Uint64(b))
	}
	return entries
}

// searchFirst is like sort.Search with a condition that may fail.
func searchFirst(n int, holds func(int) (bool, error)) (int, error) {
	low, high := 0, n
	for low < high {
		middle := int(uint(low+high) / 2)
		ok, err := holds(middle)
		switch {
		case err != nil:
			return 0, err
		case ok:
			high = middle
		default:
			low = middle + 1
		}
	}
	return low, nil
}

func readFull(file vfs.File, b []byte, offset int64) error {
	n, err := file.ReadAt(b, offset)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return err
}

func (x *index) write(fsys vfs.FS, dir string) error {
	b := make([]byte, indexHeader, indexHeader+indexEntry*len(x.entries))
	for _, e := range x.entries {
		b = le.AppendUint64(b, e)
	}
	copy(b, x.header(checksum(b[indexHeader:])))
	if err := fsys.MkdirAll(indexDir(dir)); err != nil {
		return err
	}
	return replaceFile(fsys, indexPath(dir, x.first), b)
}

// readIndex reads and checks an index file. The index must end with the last batch of the segment.
func readIndex(fsys vfs.FS, path string, s *pastSegment) (*index, error) {
	b, err := readFile(fsys, path)
	if err != nil {
		return nil, err
	}
	damaged := func(what string, args ...any) (*index, error) {
		return nil, &CorruptError{File: path, What: fmt.Sprintf(what, args...)}
	}
	if len(b) < indexHeader || string(b[:8]) != indexMagic || le.Uint32(b[8:]) != checksum(b[12:indexHeader]) {
		return damaged("the header is damaged")
	}
	x := &index{
		first: Revision(le.Uint64(b[16:])), last: Revision(le.Uint64(b[24:])), tail: int64(le.Uint64(b[32:])),
		sum: le.Uint32(b[40:]), count: int64(le.Uint64(b[48:])), sorted: true,
	}
	if version := le.Uint32(b[12:]); version != indexVersion {
		return damaged("unknown format version %d", version)
	}
	entries := b[indexHeader:]
	if int64(len(entries)) != x.count*indexEntry || checksum(entries) != le.Uint32(b[44:]) {
		return damaged("the entries do not match their checksum")
	}
	var f frame
	if x.tail > 0 {
		if f, err = s.header(x.tail); err != nil {
			return damaged("it belongs to another segment: %v", err)
		}
	}
	if x.first != s.first || f.last != x.last && x.tail > 0 || f.sum != x.sum {
		return damaged("it belongs to another segment")
	}
	return x, nil
}

// removeStaleIndexes removes the indexes of dropped segments.
func removeStaleIndexes(fsys vfs.FS, dir string) error {
	names, err := fsys.ReadDir(indexDir(dir))
	if errors.Is(err, fs.ErrNotExist) || len(names) == 0 {
		return nil
	}
	segments, listErr := listHistory(fsys, dir)
	if err = errors.Join(err, listErr); err != nil {
		return err
	}
	for _, name := range names {
		first, ok := parseName(name, indexSuffix)
		if ok && !slices.ContainsFunc(segments, func(s segment) bool { return s.first == first }) {
			err = errors.Join(err, removeIfThere(fsys, filepath.Join(indexDir(dir), name)))
		}
	}
	return err
}
