package persist

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"
)

// A Historian is a Log whose old commits can be read.
type Historian interface {
	Past(ctx context.Context) (*Past, error)
}

// ErrNotRetained means that the commits that a read needs are no longer retained.
var ErrNotRetained = errors.New("the history does not go back that far")

// A Past reads the commits up to Newest that the journal and its archive retain. If the journal
// drops files meanwhile, the readable history ends there. A Past is not safe for concurrent use.
type Past struct {
	Newest   Revision
	ctx      context.Context
	j        *Journal
	segments []*pastSegment // newest first
}

type pastSegment struct {
	openSegment      // its file is nil until it is opened
	active      bool // whether batches may follow size
	index       *index
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
	next := p.Newest + 1
	for _, s := range slices.Backward(all) {
		if s.first < next {
			s.size = active.size // meaningful only for the active segment
			p.segments = append(p.segments, &pastSegment{openSegment: openSegment{segment: s, next: next}, active: s.first == active.first})
			next = s.first
		}
	}
	return p, err
}

// Close closes the files. It must be called once.
func (p *Past) Close() (err error) {
	for _, s := range p.segments {
		if s.file != nil {
			err = errors.Join(err, s.file.Close())
		}
	}
	return err
}

// Commits calls fn with the commits of a key up to a revision, newest first, until fn returns
// false. from is the start of the searched range: unless fn ended the search, it has received every
// such commit after from.
func (p *Past) Commits(key string, upTo Revision, fn func(Commit) (more bool)) (from Revision, err error) {
	from = min(upTo, p.Newest)
	for _, s := range p.segments {
		if s.first > from {
			continue
		}
		switch err := p.locate(s); {
		case errors.Is(err, ErrNotRetained):
			return from, nil
		case err != nil:
			return from, err
		case from > s.index.last && s.index.last+1 != s.next:
			return from, nil // commits between the segments are lost
		}
		if more, err := p.commitsIn(s, key, from, fn); err != nil || !more {
			return from, err
		}
		from = s.first - 1
	}
	return from, nil
}

func (p *Past) commitsIn(s *pastSegment, key string, upTo Revision, fn func(Commit) bool) (more bool, err error) {
	offsets, err := s.index.find(p.j, key)
	// Search for the last batch that begins early enough.
	n := sort.Search(len(offsets), func(i int) bool {
		f, fault := s.header(offsets[i])
		err = cmp.Or(err, fault)
		return f.first > upTo
	})
	for _, offset := range slices.Backward(offsets[:n]) {
		if err = cmp.Or(err, p.ctx.Err()); err != nil {
			break
		}
		commits, err := p.batch(s, offset, func(c *Commit) bool { return c.Key == key && c.Revision <= upTo })
		if err != nil {
			return false, err
		}
		for _, c := range slices.Backward(commits) {
			if !fn(c) {
				return false, nil
			}
		}
	}
	return err == nil, err
}

// Changes calls fn with the commits after a revision whose keys have the prefix, in ascending
// order. It returns ErrNotRetained if a commit may be missing.
func (p *Past) Changes(prefix string, after Revision, fn func(Commit) error) error {
	if after >= p.Newest {
		return nil
	}
	i := slices.IndexFunc(p.segments, func(s *pastSegment) bool { return s.first <= after+1 })
	if i < 0 {
		return ErrNotRetained
	}
	for _, s := range slices.Backward(p.segments[:i+1]) {
		done, err := p.walk(s, index{}, func(f frame, payload []byte) error {
			if f.last <= after {
				return nil
			}
			return eachRecord(f, payload, func(c Commit) error {
				if c.Revision <= after || !strings.HasPrefix(c.Key, prefix) {
					return nil
				}
				if err := p.decode(&c); err != nil {
					return err
				}
				return fn(c)
			})
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

// RevisionAt returns the newest revision committed at or before a time. It returns ErrNotRetained
// if that revision precedes the retained history.
func (p *Past) RevisionAt(t time.Time) (Revision, error) {
	for _, s := range p.segments {
		var found Revision
		_, err := p.walk(s, index{}, func(f frame, _ []byte) error {
			if time.Unix(0, f.time).After(t) {
				return errReached
			}
			found = f.last
			return nil
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

// open opens a segment, which may have moved to the archive. It returns ErrNotRetained if the
// segment was dropped since it was listed.
func (p *Past) open(s *pastSegment) (err error) {
	if s.file != nil {
		return nil
	}
	if s.file, err = p.j.fs.Open(s.path); errors.Is(err, fs.ErrNotExist) {
		s.file, err = p.j.fs.Open(filepath.Join(archiveDir(p.j.dir), filepath.Base(s.path)))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotRetained
	case err == nil && !s.active:
		s.size, err = s.file.Size()
	}
	return err
}

// walk calls fn with the batches of a segment that follow those of an index.
func (p *Past) walk(s *pastSegment, after index, fn func(f frame, payload []byte) error) (scanResult, error) {
	if err := p.open(s); err != nil {
		return scanResult{}, err
	}
	sc := s.scan()
	sc.from, sc.fromRevision = after.end, after.last+1
	return sc.walk(&window{file: s.file, size: s.size}, func(f frame, payload []byte) error {
		if err := p.ctx.Err(); err != nil {
			return callbackError{err}
		}
		return fn(f, payload)
	})
}

func (p *Past) decode(c *Commit) error {
	c.Value, c.Metadata = slices.Clone(c.Value), slices.Clone(c.Metadata)
	return p.j.decodeCommit(c, p.Newest)
}

func (p *Past) batch(s *pastSegment, offset int64, match func(*Commit) bool) (commits []Commit, err error) {
	f, err := s.header(offset)
	if err != nil {
		return nil, err
	}
	body := make([]byte, f.size()-frameHeader)
	if err := s.read(body, offset, frameHeader); err != nil {
		return nil, err
	}
	if fl := f.checkBody(body); fl != nil {
		return nil, s.scan().corruptError(fl.offset, fl.what)
	}
	err = eachRecord(f, body[:f.payload], func(c Commit) error {
		if !match(&c) {
			return nil
		}
		err := p.decode(&c)
		commits = append(commits, c)
		return err
	})
	if err != nil {
		err = s.scan().wrapDecodeError(f, err)
	}
	return commits, err
}

func (s *pastSegment) header(offset int64) (f frame, err error) {
	var b [frameHeader]byte
	if err := s.read(b[:], offset, 0); err != nil {
		return f, err
	}
	f, what := parseHeader(b[:])
	if what == "" {
		what = s.scan().checkPlacement(f, offset, f.first)
	}
	if what != "" {
		err = s.scan().corruptError(offset, what)
	}
	return f, err
}

func (s *pastSegment) read(b []byte, batch, at int64) error {
	n, err := s.file.ReadAt(b, batch+at)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return s.scan().corruptError(batch, err.Error())
}
