package actors

import (
	"context"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// If admission may block, object.handle stops after Admit and returns the prepared mutation.
// Store.admit then runs the plugins and finishes the candidate on the request's goroutine
// (mutation.Prepared.Wait). activation.ask sends the candidate back to the owner. object.resume
// submits it if the object is unchanged.

// Mutate changes one object. It returns once the change is durable and visible. If ctx is done
// before the result is known, the error is a timeout and the change may still happen.
func (s *Store) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	if s.closing.Load() {
		return request.Result{}, errClosing()
	}
	var (
		result request.Result
		err    error
	)
	if request.Is[request.Create](&m) && m.Key.Name == "" {
		result, err = s.createGenerated(ctx, &m)
	} else {
		result, err = s.sendToOwner(ctx, &m)
	}
	if err != nil {
		return result, err
	}
	if apply, ok := m.Change.(request.Apply); ok && result.NoOp && apply.Digest != nil && !m.Recorder.Warned() {
		result.Object.AddNoOpApply(apply.Digest())
	}
	result.Object, err = s.conversions.Result(ctx, &m, result)
	return result, err
}

// NoOpApply returns the result of an apply that is known to be a no-op, without involving the
// object's owner. ok is false if the apply may change something or needs admission. Only Kind, Key,
// Subresource and Admission of m are used.
func (s *Store) NoOpApply(m request.Mutation, digest func() meta.Digest) (result request.Result, ok bool) {
	c := s.collection(m.Kind)
	if c == nil {
		return request.Result{}, false
	}
	o := c.published.Load().get(path(m.Key.Namespace, m.Key.Name))
	if o == nil || !o.IsNoOpApply(digest) || m.AdmitsNoOp() || s.isStale(o) {
		return request.Result{}, false
	}
	if o, ok = s.conversions.TryGet(m.Kind, m.Subresource, o); !ok {
		return request.Result{}, false // Mutate can wait for the conversion, or report its error
	}
	s.metrics.noOpApplies.Add(1)
	return request.Result{Object: o, NoOp: true}, true
}

// maxAdmissions is the maximum number of times that a mutation goes through admission. It is
// admitted again if its object has changed in the meantime.
const maxAdmissions = 8

// sendToOwner sends m to the object's owner until the result is final. If admission blocks, m is
// sent twice: first to be prepared, and then with the candidate to commit. If admission renames a
// new object, the owner of the new name creates it.
func (s *Store) sendToOwner(ctx context.Context, m *request.Mutation) (request.Result, error) {
	var renamed *mutation.Prepared
	admissions := 0
	var turn func() // ends the turn of the object, if it is held
	for tries := (retry{}); ; {
		c := s.collection(m.Kind) // it may be removed in the meantime, even by another server
		if c == nil {
			return request.Result{}, s.errUndefined(m.Kind)
		}
		m.Key.GroupResource = c.storage
		result, waiting, err := c.mutate(ctx, m, nil, renamed)
		if waiting != nil && waiting.converts && turn == nil {
			var waited bool
			turn, waited = c.turns.take(ctx, path(m.Key.Namespace, m.Key.Name))
			defer turn()
			if waited {
				continue // the object may have changed in the meantime
			}
		}
		if waiting != nil {
			if admissions++; admissions > maxAdmissions {
				return request.Result{}, m.Conflict("the object was modified repeatedly during admission or conversion of this change; please try again")
			}
			if err = s.admit(ctx, m, waiting, renamed); err == nil && waiting.prepared.Renamed() {
				renamed = &waiting.prepared
				m.Key.Name = nameOf(renamed)
				continue
			}
			if err == nil {
				result, _, err = c.mutate(ctx, m, waiting, nil)
			}
			if isContended(err) { // the object has not changed
				admissions--
			}
		}
		if err == nil || !isRetryable(err) {
			return result, err
		}
		if s.closing.Load() {
			return request.Result{}, errClosing()
		}
		if err := tries.await(ctx, s, m, err); err != nil {
			return request.Result{}, err
		}
	}
}

func (c *collection) mutate(ctx context.Context, m *request.Mutation, waited *waitingMutation, renamed *mutation.Prepared) (request.Result, *waitingMutation, error) {
	message := &mutateRequest{ctx: ctx, path: path(m.Key.Namespace, m.Key.Name), mutation: m, waited: waited, renamed: renamed, answered: make(chan struct{})}
	var err error
	if message.precondition, err = c.store.precondition(m); err != nil {
		message.reject(err)
		return request.Result{}, nil, err
	}
	owner := c.acquire(message.path)
	if owner == nil {
		message.reject(errStopped)
		return request.Result{}, nil, errStopped
	}
	reply, err := owner.ask(message)
	if err != nil {
		return request.Result{}, nil, err
	}
	result, err := reply.outcome()
	return result, reply.waiting, err
}

func (s *Store) admit(ctx context.Context, m *request.Mutation, w *waitingMutation, renamed *mutation.Prepared) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = s.internalError("panic in an admission", m, reason)
		}
	}()
	switch {
	case w.converts:
		err = s.computeConverted(ctx, m, w, renamed)
	case !m.Admission.MayBlock(): // an admission in the owner's turn has renamed the object
	default:
		w.candidate, err = w.prepared.Wait(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return meta.NewTimeout("the request ended during its admission or conversion")
	}
	return err
}

func errClosing() error { return meta.NewServiceUnavailable("the server is stopping") }
