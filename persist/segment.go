package persist

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/persist/vfs"
)

const (
	segmentMagic   = "TROUPEJL"
	segmentVersion = 1
	segmentHeader  = 64
	segmentSuffix  = ".journal"
	windowBytes    = 256 << 10
)

// A CorruptError locates bytes in a file that differ from the durable ones.
type CorruptError struct {
	File   string
	Offset int64 // bytes from the start of the file
	What   string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s is damaged at offset %d: %s", e.File, e.Offset, e.What)
}

type segment struct {
	first Revision // first revision, known even if the segment is empty
	path  string
	size  int64  // end offset of the last batch
	sum   uint32 // checksum in the header of that batch; 0: none
}

// fileName returns a fixed-width name, so that names sort by revision.
func fileName(first Revision, suffix string) string {
	return fmt.Sprintf("%016x%s", uint64(first), suffix)
}

func parseName(name, suffix string) (Revision, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	return Revision(n), err == nil && fileName(Revision(n), suffix) == name
}

func listSegments(fs vfs.FS, dir string) ([]segment, error) {
	names, err := fs.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []segment
	for _, name := range names {
		if first, ok := parseName(name, segmentSuffix); ok {
			out = append(out, segment{first: first, path: filepath.Join(dir, name)})
		}
	}
	slices.SortFunc(out, func(a, b segment) int { return cmpRevision(a.first, b.first) })
	return out, nil
}

func cmpRevision(a, b Revision) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// encodeSegmentHeader includes the first revision, like the file name, so that a renamed file is
// detected.
func encodeSegmentHeader(first Revision) []byte {
	b := make([]byte, segmentHeader)
	copy(b, segmentMagic)
	le.PutUint32(b[12:], segmentVersion)
	le.PutUint64(b[16:], uint64(first))
	le.PutUint32(b[8:], checksum(b[12:]))
	return b
}

// errUnsynced means that a sync failed, so unsynced bytes may be missing on disk.
var errUnsynced = errors.New("not durable")

// createSegment creates a durable empty segment. If it returns an error, the file may still appear
// after a crash. The caller must not retry after errUnsynced.
func createSegment(fs vfs.FS, dir string, first Revision) (segment, error) {
	s := segment{first: first, path: filepath.Join(dir, fileName(first, segmentSuffix)), size: segmentHeader}
	f, err := fs.Create(s.path)
	if err != nil {
		return s, err
	}
	if _, err := f.WriteAt(encodeSegmentHeader(first), 0); err != nil {
		return s, errors.Join(err, f.Close(), fs.Remove(s.path))
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return s, fmt.Errorf("%w: %w", errUnsynced, err)
	}
	err = fs.SyncDir(dir)
	if isTransient(err) {
		return s, errors.Join(err, fs.Remove(s.path))
	}
	if err != nil {
		return s, fmt.Errorf("%w: %w", errUnsynced, err)
	}
	return s, nil
}

// A window reads a file sequentially through one buffer, which is never larger than the file.
type window struct {
	file vfs.File
	size int64
	buf  []byte
	at   int64 // offset of buf[0]
}

// slice returns n bytes at an offset, or fewer at the end of the file. The result is valid until
// the next call.
func (w *window) slice(off int64, n int) ([]byte, error) {
	n = int(min(int64(n), w.size-off))
	if n <= 0 {
		return nil, nil
	}
	if off >= w.at && off+int64(n) <= w.at+int64(len(w.buf)) {
		return w.buf[off-w.at:][:n], nil
	}
	want := int(min(max(int64(n), windowBytes), w.size-off))
	if cap(w.buf) < want {
		w.buf = make([]byte, want)
	}
	w.buf, w.at = w.buf[:want], off
	got, err := w.file.ReadAt(w.buf, off)
	if err != nil && !errors.Is(err, io.EOF) {
		w.buf = w.buf[:0]
		return nil, err
	}
	w.buf = w.buf[:got]
	return w.buf[:min(n, got)], nil
}

type scan struct {
	fs           vfs.FS
	segment      segment
	newest       bool     // the last segment, the only one that may end in a torn batch
	successor    Revision // first revision of the next segment; 0: none or unknown
	until        Revision // stop after this revision; 0: at the end of the file
	from         int64    // offset of the batch to begin with; 0: the first
	fromRevision Revision // first revision of that batch
	sumOffset    int64    // end offset of the batch whose checksum is sumAtOffset
	buf          []byte   // reused for all segments
}

type scanResult struct {
	next        Revision // revision after the last batch
	end         int64    // end offset of the last batch; 0: the header is incomplete
	torn        string   // why the bytes after end are not a batch; "": no bytes follow
	batches     uint64
	size        int64  // size of the file
	sum         uint32 // checksum in the header of the last batch; 0: none
	sumAtOffset uint32 // the same for the batch that ends at sumOffset
	buf         []byte
}

// run calls fn with the payload of each intact batch. fn may be nil.
func (s scan) run(fn func(f frame, payload []byte) error) (scanResult, error) {
	file, err := s.fs.Open(s.segment.path)
	if err != nil {
		return scanResult{}, err
	}
	size, err := file.Size()
	if err != nil {
		return scanResult{}, errors.Join(err, file.Close())
	}
	w := &window{file: file, size: size, buf: s.buf[:0]}
	done, err := s.walk(w, fn)
	done.buf = w.buf
	return done, errors.Join(err, file.Close())
}

// walk passes each intact batch of the segment to fn. It stops at the first offset without a valid
// batch. From the remaining bytes, it determines whether the journal ends there, a crash
// interrupted a write, or the file is damaged. It reports an interrupted write in the result's torn
// field, not as an error.
//
// If the next segment begins with the next revision, no batch is missing, and walk ignores all
// bytes after the last batch. Some file systems (ext4 with data=writeback) may leave content of
// other files there (see doc.go).
func (s scan) walk(w *window, fn func(frame, []byte) error) (scanResult, error) {
	done := scanResult{next: s.segment.first, size: w.size}
	why, err := s.checkHeader(w)
	if err != nil || why != "" {
		done.torn = why
		return done, err
	}
	done.end = segmentHeader
	if s.from > 0 {
		done.end, done.next = s.from, s.fromRevision
	}
	for done.end < w.size && (s.until == 0 || done.next <= s.until) {
		f, body, fl, err := s.next(w, done.end, done.next)
		if err != nil {
			return done, err
		}
		if fl != nil {
			reserve, err := s.isReserve(w, done.end)
			if err != nil || reserve {
				return done, err
			}
			if done.torn = fl.what; s.successor == done.next {
				return done, nil
			}
			return done, s.classifyFlaw(w, f, done.end, fl)
		}
		if fn != nil {
			if err := fn(f, body[:f.payload]); err != nil {
				return done, s.wrapDecodeError(f, err)
			}
		}
		done.end, done.next = done.end+f.size(), f.last+1
		done.batches++
		if done.sum = f.sum; done.end == s.sumOffset {
			done.sumAtOffset = f.sum
		}
	}
	return done, nil
}

// isReserve reports whether only zeros follow off, as in reserved space. A lost batch may also read
// as zeros, but the first revision of the next segment then reveals the loss.
func (s scan) isReserve(w *window, off int64) (bool, error) {
	for off < w.size {
		b, err := w.slice(off, windowBytes)
		if err != nil || len(b) == 0 || !allZero(b) {
			return false, err
		}
		off += int64(len(b))
	}
	return true, nil
}

func (s scan) wrapDecodeError(f frame, err error) error {
	var caller callbackError
	var corrupt *CorruptError
	if errors.As(err, &caller) {
		return caller.error
	}
	if errors.As(err, &corrupt) {
		return err
	}
	return s.corruptError(f.offset, err.Error())
}

func (s scan) corruptError(offset int64, what string) error {
	return &CorruptError{File: s.segment.path, Offset: offset, What: what}
}

// checkHeader returns an error if the header is damaged. torn describes a header that was never
// completely written.
func (s scan) checkHeader(w *window) (torn string, err error) {
	b, err := w.slice(0, segmentHeader)
	if err != nil {
		return "", err
	}
	switch {
	case len(b) < segmentHeader:
		torn = "the file ends within its header"
	case allZero(b):
		torn = "the header was never written"
	case string(b[:8]) != segmentMagic:
		return "", s.corruptError(0, "it does not begin with the mark of a journal")
	case le.Uint32(b[8:]) != checksum(b[12:]):
		return "", s.corruptError(0, "the header has a wrong checksum")
	case le.Uint32(b[12:]) != segmentVersion:
		return "", s.corruptError(0, "unknown format version "+strconv.Itoa(int(le.Uint32(b[12:]))))
	case Revision(le.Uint64(b[16:])) != s.segment.first:
		return "", s.corruptError(0, "the header names another first revision than the file's name")
	default:
		return "", nil
	}
	if !s.newest {
		return "", s.corruptError(0, torn)
	}
	return torn, s.checkNoFrameAfter(w, 0)
}

// next reads the batch at offset off, which must begin with revision rev. body holds payload and
// tail. fl is set if the bytes are not a valid batch. err is an I/O error.
//
// The revision and the offset in the header must match, because the bytes may be a batch left over
// from an older file.
func (s scan) next(w *window, off int64, rev Revision) (f frame, body []byte, fl *flaw, err error) {
	b, err := w.slice(off, frameHeader)
	if err != nil {
		return f, nil, nil, err
	}
	if len(b) < frameHeader {
		return f, nil, &flaw{torn: true, offset: off, what: "the file ends within the header of a batch"}, nil
	}
	if allZero(b) {
		return f, nil, &flaw{torn: true, offset: off, what: "the header of a batch was never written"}, nil
	}
	f, what := parseHeader(b)
	if what == "" {
		what = s.checkPlacement(f, off, rev)
	}
	if what != "" {
		return frame{}, nil, &flaw{offset: off, what: what}, nil
	}
	if off+f.size() > w.size {
		return f, nil, &flaw{torn: true, offset: off, what: "the file ends within a batch"}, nil
	}
	b, err = w.slice(off, int(f.size()))
	if err != nil {
		return f, nil, nil, err
	}
	if int64(len(b)) < f.size() {
		return f, nil, &flaw{torn: true, offset: off, what: "the file ends within a batch"}, nil
	}
	body = b[frameHeader:]
	return f, body, f.checkBody(body), nil
}

func (s scan) checkPlacement(f frame, off int64, rev Revision) string {
	switch {
	case f.segment != s.segment.first:
		return "a batch belongs to another segment"
	case f.offset != off:
		return "a batch belongs to another offset"
	case f.first != rev:
		return fmt.Sprintf("a batch begins with revision %d instead of %d", f.first, rev)
	}
	return ""
}

// classifyFlaw returns nil if a crash interrupted the last write of the journal, and an error
// otherwise.
func (s scan) classifyFlaw(w *window, f frame, off int64, fl *flaw) error {
	if !fl.torn {
		return s.corruptError(fl.offset, fl.what)
	}
	if !s.newest {
		return s.corruptError(fl.offset, fl.what+", yet a later segment follows")
	}
	return s.checkNoFrameAfter(w, off)
}

// checkNoFrameAfter returns an error if an intact batch header follows a torn batch. A crash cannot
// cause that, because each batch is synced before the next one is written. Batches may begin at
// every multiple of 64.
func (s scan) checkNoFrameAfter(w *window, off int64) error {
	for at := off + frameAlign; at+frameHeader <= w.size; at += frameAlign {
		b, err := w.slice(at, frameHeader)
		if err != nil {
			return err
		}
		if len(b) < frameHeader {
			return nil
		}
		if f, what := parseHeader(b); what == "" && f.segment == s.segment.first && f.offset == at {
			return s.corruptError(off, fmt.Sprintf("a batch is missing, yet an intact one follows at offset %d", at))
		}
	}
	return nil
}
