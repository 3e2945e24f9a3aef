package actors

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

// sealed handles a commit that the log could not decode, for example because its encryption key is
// missing. The history restarts after the commit, so that watches do not see a deletion. The object
// is quarantined unless a later state of it is known.
func (r *recovery) sealed(commit *persist.Commit) {
	r.history.cut(commit)
	if commit.Revision <= r.history.base {
		return
	}
	r.store.quarantine.drop(commit.Key)
	item := persist.Item{Key: commit.Key, Value: commit.Value, Revision: commit.Revision, Err: commit.Err}
	if !commit.Delete {
		r.store.quarantine.put(newUnreadable(item, commit.Err))
	}
	parsed, err := meta.ParseKey(commit.Key)
	if c := r.store.allCollections()[parsed.GroupResource]; err == nil && c != nil {
		before, _ := r.trees[c].Delete(path(parsed.Namespace, parsed.Name))
		r.history.countState(before, nil)
		r.history.newest[c] = uint64(commit.Revision)
	}
}

// unreadable handles a commit whose value cannot be decoded. The object is quarantined unless the
// snapshot has a later state. Watches receive a Deleted event.
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
	case creates(commit):
		return // created by this commit, so no watch has seen it
	default:
		record.object = nameOnlyObject(c.kind(), parsed, record.version)
	}
	r.history.add(c, record)
}
