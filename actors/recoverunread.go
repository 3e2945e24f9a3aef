package actors

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

// unreadable takes a commit whose value cannot be read: the object is set aside, unless the
// snapshot tells what has become of it later. Who watches sees it go.
func (r *recovery) unreadable(commit *persist.Commit, reason error) {
	live := commit.Revision > r.past.base
	switch {
	case !live:
	case commit.Delete:
		r.store.quarantine.drop(commit.Key)
	default:
		r.store.setAside(commit.Key, commit.Revision, commit.Value, reason)
	}
	place, err := meta.ParseKey(commit.Key)
	c := r.store.all()[place.GroupResource]
	if err != nil || c == nil {
		return
	}
	before := r.past.seen[commit.Key].object
	r.past.forget(commit.Key)
	if live {
		before, _ = r.trees[c].Delete(path(place.Namespace, place.Name))
		r.past.replace(before, nil)
	}
	record := &record{version: uint64(commit.Revision), time: commit.Time, kind: removed, previous: before}
	switch {
	case before != nil:
		record.object = reversion(before, record.version)
	case len(commit.Note) > 0 && commit.Note[0] == noteCreated:
		return // nobody has ever seen it
	default:
		record.object = bareObject(c.kind(), place, record.version)
	}
	r.past.add(c, record)
}
