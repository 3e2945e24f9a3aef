package actors

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

type publishedState struct{ store *Store }

var _ persist.AppliedState = publishedState{}

// CurrentRevision returns the revision of the object published under the key, or 0 if there is
// none.
func (s publishedState) CurrentRevision(key string) persist.Revision {
	parsed, err := meta.ParseKey(key)
	if err != nil {
		return 0
	}
	c := s.store.allCollections()[parsed.GroupResource]
	if c == nil {
		return 0
	}
	if o := c.published.Load().get(path(parsed.Namespace, parsed.Name)); o != nil {
		return persist.Revision(o.Version)
	}
	if a := s.store.quarantine.get(parsed); a != nil {
		return a.item.Revision
	}
	return 0
}

// AppliedRevision returns the revision up to which all changes are published.
func (s publishedState) AppliedRevision() persist.Revision {
	return persist.Revision(s.store.appliedRevision.get())
}
