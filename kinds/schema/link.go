package schema

import "github.com/troupe-api/troupe/kinds/meta"

// A linker links each kind to the body kinds of its subresources and to its storage version.
type linker struct {
	byKind  map[meta.GroupVersionKind]*Kind
	sharing map[meta.GroupResource][]*Kind // by collection
	marked  map[*Kind]bool                 // storage versions
	faults  []error
}

func (l *linker) link(kinds []*Kind) {
	for _, k := range kinds {
		l.byKind[k.GroupVersionKind] = k
		if k.Resource != "" {
			l.sharing[k.Storage] = append(l.sharing[k.Storage], k)
		}
	}
	for _, k := range kinds {
		l.linkSubresources(k)
	}
	for _, versions := range l.sharing {
		stored := l.storageVersion(versions)
		stored.Versions = versions
		for _, k := range versions {
			k.Stored = stored
		}
	}
}

func (l *linker) linkSubresources(k *Kind) {
	for i := range k.Subresources {
		s := &k.Subresources[i]
		if s.Kind.Kind == "" || s.Kind == k.GroupVersionKind {
			continue
		}
		if s.BodyKind = l.byKind[s.Kind]; s.BodyKind == nil {
			l.fault(k, s.Name, "has a body of a kind that is not declared")
		}
	}
}

// storageVersion returns the kind marked as the storage version of a collection. A collection with
// only one kind needs no mark.
func (l *linker) storageVersion(versions []*Kind) *Kind {
	var marked *Kind
	for _, k := range versions {
		if !l.marked[k] {
			continue
		}
		if marked != nil {
			l.fault(k, k.Resource, "has a storage with more than one storage version")
		}
		marked = k
	}
	if marked == nil && len(versions) > 1 {
		l.fault(versions[0], versions[0].Resource, "shares its storage, and no kind there is marked as the storage version")
	}
	if marked == nil {
		return versions[0]
	}
	return marked
}

func (l *linker) fault(k *Kind, field, text string) {
	l.faults = append(l.faults, fault(k.Declared.Name, field, text))
}
