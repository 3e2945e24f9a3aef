package persist

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"
	"sync"
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

// An index locates the writes of each key in the batches of one segment up to end. An entry holds
// the checksum of the key in the upper half and the batch's offset, divided by frameAlign, in the
// lower half. If keys share a checksum, a read of one also reads the batches of the others.
type index struct {
	first   Revision // of the segment
	last    Revision // of the last batch
	end     int64    // end offset of the last batch
	tail    int64    // offset of the last batch; 0: there is none
	sum     uint32   // checksum in the header of the last batch
	count   int64    // entries of the file
	entries []uint64 // entries of an index without a file, in batch order
}

// indexes holds the indexes in use. Nothing is indexed before the first read of the past.
type indexes struct {
	mu     sync.Mutex          // held while an index is built or checked
	sealed map[Revision]*index // whose files were checked
	active *index              // 8 bytes for each write of the active segment
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

// locate opens a segment and sets its index. It reads the index file of a sealed segment, or builds
// the index if the file is missing or damaged.
func (p *Past) locate(s *pastSegment) error {
	err := p.open(s)
	if err != nil {
		return err
	}
	j, all := p.j, &p.j.indexes
	all.mu.Lock()
	defer all.mu.Unlock()
	if s.index = cmp.Or(s.index, all.sealed[s.first]); s.index != nil {
		return nil
	}
	if !s.active {
		if s.index, err = readIndex(j, s); err != nil && !errors.Is(err, fs.ErrNotExist) {
			j.o.Logger.Warn("rebuilding the index of a segment", "segment", s.path, "error", err)
		}
	}
	if s.index == nil {
		if s.index, err = p.build(s); err != nil || s.active || j.ballast.full.Load() {
			return err
		}
		if err := s.index.store(j); err != nil {
			j.o.Logger.Warn("cannot store the index of a segment", "segment", s.path, "error", err)
			return nil
		}
	}
	if all.sealed == nil {
		all.sealed = make(map[Revision]*index)
	}
	all.sealed[s.first] = s.index
	return nil
}

// build indexes a segment. It extends a copy of the active index, which other readers may use.
func (p *Past) build(s *pastSegment) (*index, error) {
	all, x := &p.j.indexes, index{first: s.first, last: s.first - 1}
	extends := all.active != nil && all.active.first == s.first
	if extends {
		x = *all.active
	}
	_, err := p.walk(s, x, func(f frame, payload []byte) error {
		x.last, x.tail, x.sum, x.end = f.last, f.offset, f.sum, f.offset+f.size()
		return eachRecord(f, payload, func(c Commit) error {
			x.entries = append(x.entries, uint64(checksum(bytesOf(c.Key)))<<32|uint64(f.offset/frameAlign))
			return nil
		})
	})
	switch {
	case err != nil:
		return nil, err
	case s.active:
		all.active = &x
	case extends:
		all.active = nil
	}
	return &x, nil
}

// find returns the offsets of the batches that may write a key, in ascending order.
func (x *index) find(j *Journal, key string) (offsets []int64, err error) {
	sum, entries := uint64(checksum(bytesOf(key))), x.entries
	if x.count > 0 && entries == nil {
		entries, err = x.read(j, sum)
	}
	for _, e := range entries {
		if e>>32 == sum {
			offsets = append(offsets, int64(uint32(e))*frameAlign)
		}
	}
	return slices.Compact(offsets), err
}

func (x *index) read(j *Journal, sum uint64) (entries []uint64, err error) {
	file, err := j.fs.Open(indexPath(j.dir, x.first))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	read := func(from, n int) []uint64 {
		part := make([]uint64, n)
		section := io.NewSectionReader(file, indexHeader+indexEntry*int64(from), indexEntry*int64(n))
		err = cmp.Or(err, binary.Read(section, le, part))
		return part
	}
	search := func(least uint64) int {
		return sort.Search(int(x.count), func(i int) bool { return read(i, 1)[0]>>32 >= least })
	}
	from, to := search(sum), search(sum+1)
	entries = read(from, max(0, to-from))
	return entries, err
}

// store writes the index file, which replaces the entries in memory.
func (x *index) store(j *Journal) error {
	entries := slices.Compact(slices.Sorted(slices.Values(x.entries))) // other readers use the old array
	x.count = int64(len(entries))
	b, err := binary.Append(make([]byte, indexHeader), le, entries)
	copy(b, x.header(checksum(b[indexHeader:])))
	if err == nil {
		err = j.fs.MkdirAll(indexDir(j.dir))
	}
	if err == nil {
		err = replaceFile(j.fs, indexPath(j.dir, x.first), b)
	}
	if err == nil {
		x.entries = nil
	}
	return err
}

// readIndex reads and checks an index file. The index must end with the last batch of the segment.
func readIndex(j *Journal, s *pastSegment) (*index, error) {
	damaged := &CorruptError{File: indexPath(j.dir, s.first), What: "the header is damaged"}
	b, err := readFile(j.fs, damaged.File)
	if err != nil {
		return nil, err
	}
	if len(b) < indexHeader || string(b[:8]) != indexMagic || le.Uint32(b[8:]) != checksum(b[12:indexHeader]) {
		return nil, damaged
	}
	x := &index{
		first: Revision(le.Uint64(b[16:])), last: Revision(le.Uint64(b[24:])), tail: int64(le.Uint64(b[32:])),
		sum: le.Uint32(b[40:]), count: int64(le.Uint64(b[48:])),
	}
	f := frame{last: x.last}
	if x.tail > 0 {
		f, err = s.header(x.tail)
	}
	version, entries := le.Uint32(b[12:]), b[indexHeader:]
	switch {
	case version != indexVersion:
		damaged.What = fmt.Sprint("unknown format version ", version)
	case int64(len(entries)) != x.count*indexEntry || checksum(entries) != le.Uint32(b[44:]):
		damaged.What = "the entries do not match their checksum"
	case err != nil:
		damaged.What = fmt.Sprint("it belongs to another segment: ", err)
	case x.first != s.first || f.last != x.last || f.sum != x.sum:
		damaged.What = "it belongs to another segment"
	default:
		return x, nil
	}
	return nil, damaged
}
