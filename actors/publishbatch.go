package actors

import (
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist"
)

// Commits by this process and by other writers all reach the collections through this file, in
// version order. Reads and watches do not distinguish them.

// publishBatch sends each collection its changes in a batch. The log calls it for batches of this
// process while the committer waits in Append, and at any time for batches of other writers.
func (c *committer) publishBatch(batch []persist.Commit, upTo persist.Revision) {
	parts := make(map[*collection]*changes)
	for i := range batch {
		commit := &batch[i]
		var into *collection
		var committed change
		if commit.Index < 0 {
			into, committed = c.store.observe(commit)
		} else { // retain nothing else of the request
			p := c.committing[commit.Index]
			into = p.collection
			committed = change{path: pathOf(commit.Key), object: p.committedObject(commit), kind: p.kind, remove: commit.Delete, time: commit.Time, proposal: p}
		}
		if into == nil {
			continue
		}
		part := parts[into]
		if part == nil {
			part = &changes{}
			parts[into] = part
		}
		part.records = append(part.records, committed)
	}
	publication := c.store.appliedRevision.begin(uint64(upTo), len(parts))
	for into, part := range parts {
		part.publication = publication
		if turn := into.publisher.Enqueue(part); c.store.embedded {
			c.publishers = append(c.publishers, turn)
		} else {
			turn.Dispatch()
		}
	}
}

// observe decodes another writer's commit and returns the change and its collection. Like recovery,
// it quarantines an object that cannot be decoded. If the key is invalid, the collection is nil.
func (s *Store) observe(commit *persist.Commit) (*collection, change) {
	key, err := meta.ParseKey(commit.Key)
	if err != nil {
		if commit.Delete {
			s.quarantine.drop(commit.Key)
		} else {
			s.addToQuarantine(commit.Key, commit.Revision, commit.Value, err)
		}
		return nil, change{}
	}
	into := s.ensureCollection(key.GroupResource, func() *schema.Kind { return s.catalog.Opaque(key.GroupResource) })
	seen := change{path: pathOf(commit.Key), kind: into.kind(), remove: commit.Delete, time: commit.Time}
	if err = commit.Err; err == nil {
		seen.object, err = codec.NewObject(seen.kind, key, uint64(commit.Revision), commit.Value)
	}
	if err == nil {
		return into, seen
	}
	seen.object, seen.remove, seen.nameOnly = nameOnlyObject(seen.kind, key, uint64(commit.Revision)), true, true
	if !commit.Delete {
		seen.unreadable = newUnreadable(persist.Item{Key: commit.Key, Value: commit.Value, Revision: commit.Revision}, err)
		s.logger.Error("cannot decode an object of another writer; it is quarantined", "key", seen.unreadable.String(), "error", err)
	}
	return into, seen
}
