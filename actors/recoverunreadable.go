package actors

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

// unreadable takes a commit whose value cannot be read: the object is set aside, unless the snapshot holds
// a later state of it. For watches it is a deletion.
func (r *recovery) unreadable(commit *persist.Commit, reason error) {
	live := commit.Revision > r.history.base
	switch {
	case !live:
	case commit.Delete:
		r.store.quarantine.drop(commit.Key)
	default:
		r.store.addToQuarantine(commit.Key, commit.Revision, commit.Value, reason)
	}
	parsed, err := meta.ParseKey(commit.Key)
	c := r.store.allCollections()[parsed.GroupResource]
	if err != nil || c == nil {
		return
	}
	before := r.history.previousObjects[commit.Key].object
	r.history.forget(commit.Key)
	if live {
		before, _ = r.trees[c].Delete(path(parsed.Namespace, parsed.Name))
		r.history.countState(before, nil)
	}
	record := &record{version: uint64(commit.Revision), time: commit.Time, kind: removed, previous: before}
	switch {
	case before != nil:
		record.object = withVersion(before, record.version)
	case len(commit.Metadata) > 0 && commit.Metadata[0] == previousStateNone:
		return // it was created by this commit, so no watch has seen it
	default:
		record.object = nameOnlyObject(c.kind(), parsed, record.version)
	}
	r.history.add(c, record)
}
