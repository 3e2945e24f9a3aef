package request

import (
	"context"

	"github.com/troupe-api/troupe/kinds/tree"
)

// Admission completes, checks or refuses the change that a Mutation makes, on behalf of policy. It
// is computed alone and waits for nothing: it runs in the turn of the object's owner, possibly
// again for another state, and has no effect but on the change. Many goroutines may call it at
// once. Errors are *meta.Status.
type Admission interface {
	// Applies tells whether anything is admitted for an operation (Create, Update, Delete or Connect)
	// of the mutation's kind and sub-resource. Where it does not apply it costs nothing; where it does,
	// no shortcut skips it.
	Applies(operation Verb) bool
	// AppliesToNoOp tells whether it is asked, too, about an update that changes nothing.
	AppliesToNoOp() bool
	// MayChange tells whether Admit may change c.New for an operation. If not, c.New may share its parts with the body of
	// the request.
	MayChange(operation Verb) bool
	// Admit is called before the change is validated. It may complete c.New, if MayChange says so, but not write into the
	// parts below the top and metadata that c.New shares with c.Old: those it copies first.
	Admit(c Change) error
	// Validate is called when the change has passed validation. It changes nothing.
	Validate(c Change) error
	// Reserve is called last, for a change that nothing else refuses. It sets aside what the change
	// takes of something shared, such as a quota; nil if nothing.
	Reserve(c Change) (*Reservation, error)
}

// A WaitingAdmission asks outside of the object's owner, such as a webhook, and waits for the answer. It is
// called on the goroutine of the request while the object's owner goes on with other mutations. Its
// answer counts only if the object is still as it was then; else the mutation begins again on the
// new state, and asks again. Many goroutines may call it at once.
type WaitingAdmission interface {
	// MayApply tells whether Applies may be true for an operation of the mutation's kind and sub-resource.
	MayApply(operation Verb) bool
	// AppliesToNoOp tells whether it is asked, too, about an update that changes nothing.
	AppliesToNoOp() bool
	// Applies tells whether a change, as far as it is prepared, is one to wait for. It runs in
	// the owner's turn as Admission does.
	Applies(c Change) bool
	// Begin begins to ask about one change.
	Begin() WaitingCall
}

// A WaitingCall asks about one change: Mutate, once more if the change became another one by it, and
// then Validate. It must return soon after ctx has ended, and may use the store, also to read or
// change the very object. Errors are *meta.Status; a panic is answered 500.
type WaitingCall interface {
	// Mutate may change c.New, which is its own copy, but for what only the server sets in metadata; the
	// change then passes Admission.Admit again, and is told again, as a Reinvocation.
	Mutate(ctx context.Context, c Change) error
	// Validate is called last, with the state that would be stored. It changes nothing.
	Validate(ctx context.Context, c Change) error
}

// A Change is what is admitted, in stored form. Old is nil for an object that does not exist yet, New
// for one that is to be deleted. Only New may be changed, and only where it is said.
type Change struct {
	Mutation *Mutation
	Old, New tree.Tree
	// OldVersion is the version of Old; 0 if it has none yet.
	OldVersion uint64
	// Body is what is written to a sub-resource that has a body of a kind of its own, such as a Scale,
	// while a WaitingCall is asked; nil elsewhere. Mutate changes it instead of New, which is made of it again.
	Body tree.Tree
	// Reinvocation says that the change is asked about once more, because a WaitingAdmission has made
	// another one of it.
	Reinvocation bool
	// Completer, while Admission.Admit is asked, takes a New that is another object; nil where Admit changes New
	// itself, as for an operation.
	Completer Completer
	// Ends is the context of the request; see Context.
	Ends context.Context
}

// A Completer makes a change of what an admission wants instead of it: what the request could not have changed stays as
// it was, and what is missing gets its default. The answer, which takes the place of New, is that of the Completer to change.
type Completer interface {
	// Rewrite takes an object in stored form, or the body of a sub-resource that has one of a kind of its own.
	Rewrite(object tree.Tree) (tree.Tree, error)
}

// Context ends when nobody waits for the outcome of the change any more.
func (c *Change) Context() context.Context {
	if c.Ends == nil {
		return context.Background()
	}
	return c.Ends
}

// Operation is what the mutation comes to: Create, Update, Delete or Connect. An apply may be a Create
// or an Update; a create of a sub-resource is an Update of its object.
func (c *Change) Operation() Verb {
	switch {
	case c.Mutation != nil && c.Mutation.Verb == Connect:
		return Connect
	case c.New == nil:
		return Delete
	case c.Old == nil:
		return Create
	}
	return Update
}

// Admits tells whether an Admission applies to an operation of m, or a WaitingAdmission may.
func (m *Mutation) Admits(operation Verb) bool {
	return operation == Create && m.CreateRefusal != nil || m.Waiting != nil && m.Waiting.MayApply(operation) || m.Admission != nil && m.Admission.Applies(operation)
}

// AdmitsNoOp tells whether an Admission applies to an update by m that changes nothing, or a WaitingAdmission may.
func (m *Mutation) AdmitsNoOp() bool {
	return m.Waiting != nil && m.Waiting.AppliesToNoOp() || m.Admission != nil && m.Admission.AppliesToNoOp()
}

// MayBeChanged tells whether an Admission may change what m asks for, or a WaitingAdmission may.
func (m *Mutation) MayBeChanged(operation Verb) bool {
	return m.Waiting != nil && m.Waiting.MayApply(operation) || m.Admission != nil && m.Admission.MayChange(operation)
}

// admits tells whether the Admission of m applies to a change.
func (m *Mutation) admits(c *Change) bool {
	return m.Admission != nil && m.Admission.Applies(c.Operation())
}

// Admit asks the Admission of c's mutation, if one applies. It refuses a create that the mutation must not make.
func (c Change) Admit() error {
	if c.Old == nil && c.Mutation.CreateRefusal != nil {
		return c.Mutation.CreateRefusal
	}
	if !c.Mutation.admits(&c) {
		return nil
	}
	return c.Mutation.Admission.Admit(c)
}

// Validate asks the Admission of c's mutation, if one applies, about a valid change.
func (c Change) Validate() error {
	if !c.Mutation.admits(&c) {
		return nil
	}
	return c.Mutation.Admission.Validate(c)
}

// Reserve lets the Admission of c's mutation, if one applies, set aside what the change takes.
func (c Change) Reserve() (*Reservation, error) {
	if !c.Mutation.admits(&c) {
		return nil, nil
	}
	return c.Mutation.Admission.Reserve(c)
}

// Waits tells whether the change is one to wait for.
func (c Change) Waits() bool {
	return c.Mutation.Waiting != nil && c.Mutation.Waiting.Applies(c)
}

// AdmitOperation asks all of the admission of m about an operation that stores nothing under its own name,
// such as an eviction, or about a connection; body may be changed, and is completed before it is validated. The caller
// commits or releases the reservation.
func (m *Mutation) AdmitOperation(ctx context.Context, body tree.Tree, complete func() error) (*Reservation, error) {
	c := Change{Mutation: m, New: body, Ends: ctx}
	if err := c.Admit(); err != nil {
		return nil, err
	}
	if !c.Waits() {
		if err := complete(); err != nil {
			return nil, err
		}
		return c.validateAndReserve()
	}
	call := m.Waiting.Begin()
	for _, c.Reinvocation = range []bool{false, true} {
		if err := call.Mutate(ctx, c); err != nil {
			return nil, err
		}
		if c.Reinvocation {
			break
		}
		again := c
		again.Reinvocation = true
		if err := again.Admit(); err != nil {
			return nil, err
		}
	}
	if err := complete(); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := call.Validate(ctx, c); err != nil {
		return nil, err
	}
	return c.Reserve()
}

func (c Change) validateAndReserve() (*Reservation, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c.Reserve()
}
