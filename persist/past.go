package persist

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/persist/vfs"
)

// A Historian is a Log whose old commits can be read.
type Historian interface {
	Past(ctx context.Context) (*Past, error)
}

// ErrNotRetained means that the commits that a read needs are no longer retained.
var ErrNotRetained = errors.New("the history does not go back that far")

// A Past reads the commits up to Newest that the journal and its archive retain. Files that the
// journal drops meanwhile end the readable history. A Past is not safe for concurrent use.
type Past struct {
	Newest   Revision
	ctx      context.Context
	j        *Journal
	segments []pastSegment // ascending
}

type pastSegment struct {
	segment
	next   Revision // revision at which the next segment begins
	active bool     // whether batches may follow size
	file   vfs.File // nil until it is opened
	index  *index
}

// Past returns a reader of the commits so far. ctx limits all its reads.
func (j *Journal) Past(ctx context.Context) (*Past, error) {
	j.inventory.mu.Lock()
	p := &Past{Newest: j.inventory.newest, ctx: ctx, j: j}
	var active segment
	if n := len(j.inventory.segments); n > 0 {
		active = j.inventory.segments[n-1]
	}
	j.inventory.mu.Unlock()
	all, err := listHistory(j.fs, j.dir)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.first > p.Newest {
			break
		}
		if n := len(p.segments); n > 0 {
			p.segments[n-1].next = s.first
		}
		one := pastSegment{segment: s, next: p.Newest + 1, active: s.first == active.first}
		one.size = active.size // of another segment, unless it is active
		p.segments = append(p.segments, one)
	}
	return p, nil
}

// Close closes the files. It must be called once.
func (p *Past) Close() error {
	var err error
	for _, s := range p.segments {
		if s.file != nil {
			err = errors.Join(err, s.file.Close())
		}
	}
	return err
}

// Commits calls fn with the commits of a key up to a revision, newest first, until fn returns
// false. from is the revision after which every such commit was found, if fn has not ended the
// search.
func (p *Past) Commits(key string, upTo Revision, fn func(Commit) (more bool)) (from Revision, err error) {
	upTo = min(upTo, p.Newest)
	from = upTo
	for i := len(p.segments) - 1; i >= 0; i-- {
		s := &p.segments[i]
		if s.first > upTo {
			continue
		}
		if err := p.open(s); err != nil {
			return from, ended(err)
		}
		if err := p.locate(s); err != nil {
			return from, err
		}
		if upTo > s.index.last && s.index.last+1 != s.next {
			return from, nil // commits between the segments are lost
		}
		more, err := p.commitsIn(s, key, upTo, fn)
		if err != nil || !more {
			return from, err
		}
		from, upTo = s.first-1, s.first-1
	}
	return from, nil
}

// ended returns nil if a segment was dropped since it was listed. The history then begins after it.
func ended(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (p *Past) commitsIn(s *pastSegment, key string, upTo Revision, fn func(Commit) bool) (more bool, err error) {
	offsets, err := s.index.find(p.j.fs, p.j.dir, key)
	if err != nil {
		return false, err
	}
	// Search for the last batch that begins early enough.
	n, err := searchFirst(len(offsets), func(i int) (bool, error) {
		f, err := s.header(offsets[i])
		return f.first > upTo, err
	})
	if err != nil {
		return false, err
	}
	for _, offset := range slices.Backward(offsets[:n]) {
		if err := p.ctx.Err(); err != nil {
			return false, err
		}
		f, payload, err := s.batch(offset)
		if err != nil {
			return false, err
		}
		commits, err := p.decode(f, payload, func(k string, r Revision) bool { return k == key && r <= upTo })
		if err != nil {
			return false, scan{segment: s.segment}.wrapDecodeError(f, err)
		}
		for _, c := range slices.Backward(commits) {
			if !fn(c) {
				return false, nil
			}
		}
	}
	return true, nil
}

// Changes calls fn with the commits after a revision whose keys have the prefix, in ascending
// order. It returns ErrNotRetained if a commit may be missing.
func (p *Past) Changes(prefix string, after Revision, fn func(Commit) error) error {
	if after >= p.Newest {
		return nil
	}
	if len(p.segments) == 0 || p.segments[0].first > after+1 {
		return ErrNotRetained
	}
	for i := range p.segments {
		s := &p.segments[i]
		if s.next <= after+1 {
			continue
		}
		if err := p.open(s); err != nil {
			return p.lost(err)
		}
		done, err := scan{segment: s.segment, successor: s.next}.walk(&window{file: s.file, size: s.size}, func(f frame, payload []byte) error {
			if err := p.ctx.Err(); err != nil || f.last <= after {
				return asCallbackError(err)
			}
			commits, err := p.decode(f, payload, func(k string, r Revision) bool { return r > after && strings.HasPrefix(k, prefix) })
			for _, c := range commits {
				if err == nil {
					err = asCallbackError(fn(c))
				}
			}
			return err
		})
		if err != nil {
			return err
		}
		if done.next != s.next {
			return ErrNotRetained
		}
	}
	return nil
}

func asCallbackError(err error) error {
	if err == nil {
		return nil
	}
	return callbackError{err}
}

func (p *Past) lost(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotRetained
	}
	return err
}

// RevisionAt returns the newest revision that was committed at or before a time. It returns
// ErrNotRetained if that revision precedes the retained history.
func (p *Past) RevisionAt(t time.Time) (Revision, error) {
	for i := len(p.segments) - 1; i >= 0; i-- {
		s := &p.segments[i]
		if err := p.open(s); err != nil {
			return 0, p.lost(err)
		}
		var found Revision
		_, err := scan{segment: s.segment, successor: s.next}.walk(&window{file: s.file, size: s.size}, func(f frame, _ []byte) error {
			if time.Unix(0, f.time).After(t) {
				return errReached
			}
			found = f.last
			return asCallbackError(p.ctx.Err())
		})
		if err != nil && !errors.Is(err, errReached.error) {
			return 0, err
		}
		if found > 0 {
			return found, nil
		}
	}
	return 0, ErrNotRetained
}

// open opens a segment, which may have moved to the archive.
func (p *Past) open(s *pastSegment) (err error) {
	if s.file != nil {
		return nil
	}
	if s.file, err = p.j.fs.Open(s.path); errors.Is(err, fs.ErrNotExist) {
		s.file, err = p.j.fs.Open(filepath.Join(archiveDir(p.j.dir), filepath.Base(s.path)))
	}
	if err == nil && !s.active {
		s.size, err = s.file.Size()
	}
	return err
}

// decode returns the writes of a batch that match, with decoded values.
func (p *Past) decode(f frame, payload []byte, match func(key string, r Revision) bool) (commits []Commit, err error) {
	when := time.Unix(0, f.time)
	for r := f.first; len(payload) > 0; r++ {
		c, rest, ok := decodeRecord(payload)
		if !ok {
			return nil, fmt.Errorf("the write of revision %d does not decode", r)
		}
		if payload = rest; !match(c.Key, r) {
			continue
		}
		c.Revision, c.Time, c.Index = r, when, -1
		c.Value, c.Metadata = slices.Clone(c.Value), slices.Clone(c.Metadata)
		if err := p.j.decodeCommit(&c, p.Newest); err != nil {
			return nil, asCallbackError(err)
		}
		commits = append(commits, c)
	}
	return commits, nil
}

// header reads the header of the batch at an offset.
func (s *pastSegment) header(offset int64) (f frame, err error) {
	var b [frameHeader]byte
	if err := readFull(s.file, b[:], offset); err != nil {
		return f, &CorruptError{File: s.path, Offset: offset, What: err.Error()}
	}
	f, what := parseHeader(b[:])
	if what == "" {
		what = scan{segment: s.segment}.checkPlacement(f, offset, f.first)
	}
	if what != "" {
		return f, &CorruptError{File: s.path, Offset: offset, What: what}
	}
	return f, nil
}

func (s *pastSegment) batch(offset int64) (f frame, payload []byte, err error) {
	if f, err = s.header(offset); err != nil {
		return f, nil, err
	}
	body := make([]byte, f.size()-frameHeader)
	if err := readFull(s.file, body, offset+frameHeader); err != nil {
		return f, nil, &CorruptError{File: s.path, Offset: offset, What: err.Error()}
	}
	if fl := f.checkBody(body); fl != nil {
		return f, nil, &CorruptError{File: s.path, Offset: fl.offset, What: fl.what}
	}
	return f, body[:f.payload], nil
}
