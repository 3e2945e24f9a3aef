package actors

import (
	"context"
	"errors"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// DeleteCollection deletes the objects that l selects, many in parallel. It returns the listed
// objects and the version of the last deletion, or 0. It skips objects that have already been
// deleted or replaced. Each deletion goes through admission. m.Change must be a Delete.
func (s *Store) DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error) {
	listed, err := s.listStored(ctx, l)
	if err != nil {
		return listed, err
	}
	const parallel = 64
	var (
		wait   sync.WaitGroup
		mu     sync.Mutex
		faults error
		newest uint64
		slots  = make(chan struct{}, parallel)
	)
	unreadable, err := s.deleteUnreadable(ctx, l, m)
	if err != nil {
		return listed, err
	}
	newest = unreadable
	for _, o := range listed.Items {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			version, err := s.deleteListed(ctx, o, m)
			mu.Lock()
			defer mu.Unlock()
			faults = errors.Join(faults, err)
			newest = max(newest, version)
		})
	}
	wait.Wait()
	listed.Version = newest
	var first *meta.Status
	if errors.As(faults, &first) {
		return listed, first
	}
	if faults != nil {
		return listed, faults
	}
	return listed, nil
}

// deleteUnreadable deletes the objects of a collection that cannot be decoded, unless the list has
// a selector or a continue token. It returns the version of the last deletion, or 0.
func (s *Store) deleteUnreadable(ctx context.Context, l request.List, m request.Mutation) (newest uint64, err error) {
	if !l.Labels.Empty() || !l.Fields.Empty() || l.Continue != "" {
		return 0, nil
	}
	for _, a := range s.quarantine.of(l.Kind.Storage, l.Namespace) {
		m.Key = a.Key
		result, err := s.sendToOwner(ctx, &m)
		if meta.HasReason(err, meta.ReasonNotFound) {
			continue // deleted in the meantime
		}
		if err != nil {
			return newest, err
		}
		newest = max(newest, result.Object.Version)
	}
	return newest, nil
}

// deleteListed deletes a listed object and returns the version of the deletion, or 0 if the object
// was deleted or replaced after the list. If a precondition set by the client fails, it returns a
// conflict.
func (s *Store) deleteListed(ctx context.Context, o *meta.Object, m request.Mutation) (uint64, error) {
	m.Key = o.Key
	if all := m.Recorder; all != nil {
		m.Recorder = new(request.Recorder)
		defer func() { all.Add(m.Recorder) }()
	}
	options, _ := m.Change.(request.Delete)
	unconditional := options.UID == nil && options.ResourceVersion == nil
	if options.UID == nil {
		options.UID = &o.Meta.UID
		m.Change = options
	}
	result, err := s.sendToOwner(ctx, &m)
	if meta.HasReason(err, meta.ReasonNotFound) || meta.HasReason(err, meta.ReasonConflict) && unconditional && s.isReplaced(m.Kind, o) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return result.Object.Version, nil
}

func (s *Store) isReplaced(k *schema.Kind, o *meta.Object) bool {
	c := s.collection(k)
	if c == nil {
		return true
	}
	current := c.published.Load().get(path(o.Key.Namespace, o.Key.Name))
	return current == nil || current.Meta.UID != o.Meta.UID
}
