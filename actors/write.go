package actors

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// Mutate makes one change of one object, and answers after it is durable and visible.
// A change whose context ends while it is on its way is answered Timeout and may
// still happen.
func (s *Store) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	if s.closing.Load() {
		return request.Result{}, meta.NewServiceUnavailable("the server is stopping")
	}
	result, err := s.mutateOrGenerate(ctx, &m)
	if err == nil {
		if result.NoOp && m.ApplyDigest != nil && len(result.Warnings) == 0 {
			result.Object.AddNoOpApply(m.ApplyDigest())
		}
		result.Object, err = s.conversions.Result(ctx, &m, result)
	}
	return result, err
}

// NoOpApply answers an apply that is known to change nothing of the object as it is, without
// its owner; ok is false if that is not known. Of m only Kind, Key, Subresource and Echo count.
func (s *Store) NoOpApply(m *request.Mutation) (result request.Result, ok bool) {
	o := s.collection(m.Kind).published.Load().get(path(m.Key.Namespace, m.Key.Name))
	if o == nil || !o.IsNoOpApply(m.ApplyDigest) {
		return request.Result{}, false
	}
	if o, ok = s.conversions.TryGet(m.Kind, m.Subresource, o); !ok {
		return request.Result{}, false // Mutate can wait for the conversion, or says what is wrong
	}
	s.metrics.noOpApplies.Add(1)
	return request.Result{Object: o, NoOp: true}, true
}

// mutateOrGenerate makes a change, and answers the stored form.
func (s *Store) mutateOrGenerate(ctx context.Context, m *request.Mutation) (request.Result, error) {
	if m.Verb == request.Create && m.Key.Name == "" {
		return s.generate(ctx, m)
	}
	return s.mutate(ctx, m)
}

// generate creates an object under a random name; a name that is taken is tried anew.
func (s *Store) generate(ctx context.Context, m *request.Mutation) (request.Result, error) {
	base := m.Object.Object("metadata").String("generateName")
	if base == "" {
		return s.mutate(ctx, m) // validation says what is missing
	}
	const tries = 8
	var err error
	for range tries {
		m.Key.Name = base[:min(len(base), maxGenerated-suffixLength)] + randomSuffix()
		var result request.Result
		result, err = s.mutate(ctx, m)
		var status *meta.Status
		if !errors.As(err, &status) || status.Reason != meta.ReasonAlreadyExists {
			return result, err
		}
	}
	return request.Result{}, err
}

// Generated names have at most maxGenerated characters, the last suffixLength of which
// are random letters and digits that spell no words.
const (
	maxGenerated  = 63
	suffixLength  = 5
	suffixLetters = "bcdfghjklmnpqrstvwxz2456789"
)

func randomSuffix() string {
	var suffix [suffixLength]byte
	for i := range suffix {
		suffix[i] = suffixLetters[rand.IntN(len(suffixLetters))]
	}
	return string(suffix[:])
}

// mutate asks the object's owner until the answer holds.
func (s *Store) mutate(ctx context.Context, m *request.Mutation) (request.Result, error) {
	c := s.collection(m.Kind)
	m.Key.GroupResource = c.storage
	for {
		precondition, err := s.precondition(m)
		if err != nil {
			return request.Result{}, err
		}
		result, err := s.mutateOnce(ctx, c, m, precondition)
		if !isRetryable(err) {
			return result, err
		}
		if s.closing.Load() {
			return request.Result{}, meta.NewServiceUnavailable("the server is stopping")
		}
	}
}

// mutateOnce hands a mutation to the object's owner once, and waits for its outcome.
func (s *Store) mutateOnce(ctx context.Context, c *collection, m *request.Mutation, precondition createPrecondition) (request.Result, error) {
	at := path(m.Key.Namespace, m.Key.Name)
	owner := c.acquire(at)
	if owner == nil {
		return request.Result{}, errStopped
	}
	message := &mutateRequest{ctx: ctx, path: at, mutation: m, precondition: precondition, reply: make(chan mutateReply, 1)}
	owner.ref.Send(message)
	var a mutateReply
	select {
	case a = <-message.reply:
	case <-ctx.Done():
		go message.awaitAndRelease(owner)
		return request.Result{}, meta.NewTimeout("the request ended before the object's turn came")
	}
	if a.proposal != nil {
		select {
		case <-a.proposal.done:
		case <-ctx.Done():
			go a.awaitAndRelease(owner)
			return request.Result{}, meta.NewTimeout("the request ended while its change was being stored; it may have happened")
		}
	}
	owner.release(a.resultObject())
	return a.outcome()
}

// DeleteCollection deletes what a list selects, many at a time, and answers what was
// chosen, under the version of the last deletion; 0 if there was none. An object that has gone or has been replaced
// meanwhile is passed over.
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
	return s.convertIfExternal(ctx, l.Kind, listed)
}

// deleteUnreadable deletes what cannot be read of a collection, unless a selector asks for a part of
// it, and answers the version of the last deletion; 0 if there was none.
func (s *Store) deleteUnreadable(ctx context.Context, l request.List, m request.Mutation) (newest uint64, err error) {
	if !l.Labels.Empty() || !l.Fields.Empty() || l.Continue != "" {
		return 0, nil
	}
	for _, a := range s.quarantine.of(l.Kind.Storage, l.Namespace) {
		m.Verb, m.Key = request.Delete, a.Key
		result, err := s.mutate(ctx, &m)
		var status *meta.Status
		if errors.As(err, &status) && status.Reason == meta.ReasonNotFound {
			continue // somebody else was quicker
		}
		if err != nil {
			return newest, err
		}
		newest = max(newest, result.Object.Version)
	}
	return newest, nil
}

// deleteListed deletes one object of a collection if it is still the one chosen, and answers the
// version of that. A precondition that it does not meet is a conflict as for any delete.
func (s *Store) deleteListed(ctx context.Context, o *meta.Object, m request.Mutation) (uint64, error) {
	m.Verb, m.Key = request.Delete, o.Key
	passes := m.Delete.UID == "" && m.Delete.ResourceVersion == ""
	if m.Delete.UID == "" {
		m.Delete.UID = o.Meta.UID
	}
	result, err := s.mutate(ctx, &m)
	var status *meta.Status
	if errors.As(err, &status) && (status.Reason == meta.ReasonNotFound || status.Reason == meta.ReasonConflict && passes) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return result.Object.Version, nil
}
