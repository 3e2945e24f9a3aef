package actors

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist"
)

// Limits for reads of the log.
const (
	maxLogReads       = 2       // concurrent reads; others wait
	maxLogReaders     = 1 << 12 // users whose reads are counted
	maxRevisions      = 500     // revisions per page of an object's history
	maxHistoryPage    = 8 << 20 // bytes of objects after which a page ends early
	loggedKeyOverhead = 128     // bytes of memory for each changed key of a list
)

func (s *Store) historian() persist.Historian {
	h, _ := s.log.(persist.Historian)
	return h
}

// readLog calls fn with a reader of the log's old commits. Each user can run or queue only one
// read, so that users take turns when the limit of concurrent reads is reached.
func (s *Store) readLog(ctx context.Context, user string, fn func(p *persist.Past) error) error {
	own, known := s.logReaders.Get(user)
	if !known {
		s.logReaders.Put(user, make(chan struct{}, 1), 1)
		own, _ = s.logReaders.Get(user)
	}
	for _, reads := range []chan struct{}{own, s.logReads} {
		select {
		case reads <- struct{}{}:
			defer func() { <-reads }()
		case <-ctx.Done():
			return meta.NewTooManyRequests("too many requests read the past, please try again later", 1)
		}
	}
	p, err := s.historian().Past(ctx)
	if err == nil {
		err = errors.Join(fn(p), p.Close())
	}
	status, isStatus := errors.AsType[*meta.Status](err)
	switch {
	case err == nil:
		return nil
	case isStatus:
		return status
	case errors.Is(err, persist.ErrNotRetained):
		return meta.NewExpired("the requested state is older than the changes that the server retains")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return meta.NewTimeout("the past was not read in time")
	}
	s.logger.Error("cannot read the past from the log", "error", err)
	return meta.NewInternalCause("the past cannot be read; the log of the server has the reason")
}

func (s *Store) versionAt(ctx context.Context, user string, t time.Time) (version uint64, err error) {
	switch {
	case t.After(s.now()):
		return 0, meta.NewBadRequest("at: Invalid value: " + t.Format(time.RFC3339) + ": must not be in the future")
	case s.historian() == nil:
		return 0, meta.NewBadRequest("at: a time needs the embedded journal; with etcd, use resourceVersion and resourceVersionMatch=Exact")
	}
	err = s.readLog(ctx, user, func(p *persist.Past) error {
		at, err := p.RevisionAt(t)
		version = uint64(at)
		return err
	})
	return version, err
}

// objectAt returns an object as of an applied version before its current one, or nil if it did not
// exist.
func (c *collection) objectAt(ctx context.Context, r request.Get) (o *meta.Object, err error) {
	if c.store.historian() == nil {
		state, err := c.snapshotAt(r.Version)
		if err != nil {
			return nil, err
		}
		return state.get(path(r.Key.Namespace, r.Key.Name)), nil
	}
	r.Key.GroupResource = c.storage
	err = c.store.readLog(ctx, r.User, func(p *persist.Past) error {
		o, err = c.loggedObject(p, r.Key.String(), persist.Revision(r.Version))
		return err
	})
	return o, err
}

// loggedObject returns the object with a key as of a revision before its newest commit, or nil if
// it did not exist. It returns ErrNotRetained if the retained history cannot answer this.
func (c *collection) loggedObject(p *persist.Past, key string, at persist.Revision) (*meta.Object, error) {
	var last, next *persist.Commit
	from, err := p.Commits(key, at, func(commit persist.Commit) bool {
		last = &commit
		return false
	})
	switch {
	case err != nil:
		return nil, err
	case last != nil && !last.Delete:
		return c.decodeCommit(last)
	case last != nil || from == 0:
		return nil, nil
	}
	// The preceding commit may not be retained, unless the next one creates the object.
	from, err = p.Commits(key, p.Newest, func(commit persist.Commit) bool {
		next = &commit
		return true
	})
	if err == nil && (from > at || next != nil && !creates(next)) {
		err = persist.ErrNotRetained
	}
	return nil, err
}

func creates(commit *persist.Commit) bool {
	return len(commit.Metadata) > 0 && commit.Metadata[0] == previousStateNone
}

func (c *collection) decodeCommit(commit *persist.Commit) (*meta.Object, error) {
	_, o, err := c.store.decode(commit.Key, commit.Revision, commit.Value)
	if err = cmp.Or(commit.Err, err); err == nil {
		return o, nil
	}
	c.store.logger.Error("cannot read an old state of an object", "key", commit.Key, "version", commit.Revision, "error", err)
	key, _ := meta.ParseKey(commit.Key)
	return nil, meta.NewStoreReadError(c.storage, key.Name, "its state at that version cannot be decoded")
}

// A loggedState is a past state of a collection, shared by the chunks of a list.
type loggedState struct {
	*snapshot
	kind    *schema.Kind
	read    time.Time
	base    uint64 // version of the published snapshot from which it was computed
	history *history
}

// expireLogged drops a state read before the given time. It also drops a state whose current
// objects have been replaced and dropped from the history, because the state alone would keep them
// in memory.
func (s *Store) expireLogged(before time.Time) {
	if l := s.logged.Load(); l != nil && (l.read.Before(before) || l.history.floor.Load() > l.base) {
		s.logged.CompareAndSwap(l, nil)
	}
}

// loggedSnapshot returns the state of the collection at an applied version, by undoing the changes
// in the log. The objects that it reads count against HistoryBytes. It keeps the state of the last
// chunked list, so that later chunks need not read the log again.
func (c *collection) loggedSnapshot(ctx context.Context, r request.List) (*snapshot, error) {
	version, kind := r.Version, c.kind()
	if l := c.store.logged.Load(); l != nil && l.kind == kind && l.version == version {
		return l.snapshot, nil
	}
	published := c.published.Load()
	objects, at := fork(published.objects), persist.Revision(version)
	err := c.store.readLog(ctx, r.User, func(p *persist.Past) error {
		changed, bytes := map[string]bool{}, int64(0) // by key: whether the first change creates it
		reserve := func(n int) error {
			if bytes += int64(n); bytes > c.store.tuning.HistoryBytes {
				return meta.NewTooLarge("too much has changed since version %d: get single objects, or their history", version)
			}
			return nil
		}
		err := p.Changes(c.prefix(), at, func(commit persist.Commit) error {
			if _, seen := changed[commit.Key]; seen {
				return nil
			}
			changed[commit.Key] = creates(&commit)
			return reserve(len(commit.Key) + loggedKeyOverhead)
		})
		for _, key := range slices.Sorted(maps.Keys(changed)) {
			var o *meta.Object
			if err == nil && !changed[key] {
				o, err = c.loggedObject(p, key, at)
			}
			if err != nil {
				return err
			}
			if objects.Delete(pathOf(key)); o != nil {
				objects.Set(pathOf(key), o)
				err = reserve(len(o.JSON))
			}
		}
		return err
	})
	state := &snapshot{objects: objects, version: version}
	if err == nil && r.Limit > 0 {
		c.store.logged.Store(&loggedState{state, kind, c.store.now(), published.version, c.history})
	}
	return state, err
}

// History returns the retained revisions of an object, newest first. Without an embedded journal,
// it returns only the changes in memory. If the object exists but has no retained revisions, it
// fails with Expired.
func (s *Store) History(ctx context.Context, r request.History) (result request.HistoryResult, err error) {
	c := s.collection(r.Kind)
	if c == nil {
		return result, s.errUndefined(r.Kind)
	}
	r.Key.GroupResource = c.storage
	if result.Version = s.Version(); r.Before == 0 {
		r.Before = math.MaxUint64
	}
	if r.Limit = min(r.Limit, maxRevisions); r.Limit <= 0 {
		r.Limit = maxRevisions
	}
	bytes := 0
	add := func(v request.Revision) (more bool) {
		if v.Object != nil {
			bytes += len(v.Object.JSON)
		}
		if n := len(result.Revisions); n == r.Limit || n > 0 && bytes > maxHistoryPage {
			result.Before = result.Revisions[n-1].Version
			return false
		}
		result.Revisions = append(result.Revisions, v)
		return true
	}
	if s.historian() == nil {
		c.recentRevisions(r, add)
	} else if err := s.readLog(ctx, r.User, func(p *persist.Past) error {
		_, err := p.Commits(r.Key.String(), persist.Revision(r.Before-1), func(commit persist.Commit) bool { return add(c.revision(&commit)) })
		return err
	}); err != nil {
		return result, err
	}
	if len(result.Revisions) == 0 && r.Before == math.MaxUint64 {
		if c.published.Load().get(path(r.Key.Namespace, r.Key.Name)) != nil {
			return result, meta.NewExpired("no change of the object is retained: increase --journal-archive-bytes or, with etcd, --watch-history-time")
		}
		return result, s.notFound(request.Get{Kind: r.Kind, Key: r.Key})
	}
	for i := range result.Revisions {
		if v := &result.Revisions[i]; v.Object != nil {
			if v.Object, err = s.conversions.Get(ctx, r.Kind, "", v.Object); err != nil {
				return result, err
			}
		}
	}
	return result, nil
}

func (c *collection) revision(commit *persist.Commit) request.Revision {
	o, err := c.decodeCommit(commit)
	v := request.Revision{Time: commit.Time, Event: request.Event{Type: request.Modified, Object: o, Version: uint64(commit.Revision)}}
	switch {
	case err != nil:
		v.Type, v.Status = request.Error, meta.AsStatus(err)
	case commit.Delete:
		v.Type = request.Deleted
	case creates(commit):
		v.Type = request.Added
	}
	return v
}

// recentRevisions calls add with the changes of an object in memory, newest first.
func (c *collection) recentRevisions(r request.History, add func(request.Revision) bool) {
	from, _ := c.history.seek(c.history.floor.Load())
	records, _ := from.read(nil, math.MaxInt, r.Before-1)
	for _, one := range slices.Backward(records) {
		if one.object.Key != r.Key {
			continue
		}
		event := request.Event{Type: [...]request.EventType{request.Added, request.Modified, request.Deleted}[one.kind], Object: one.object, Version: one.version}
		if !add(request.Revision{Event: event, Time: one.time}) {
			return
		}
	}
}
