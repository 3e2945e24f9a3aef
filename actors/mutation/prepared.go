package mutation

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Prepared is a mutation between Prepare and Finish. It holds the desired state.
type Prepared struct {
	cur        State
	mutation   *request.Mutation
	env        Env
	want       tree.Tree           // the wanted state, owned by the mutation; nil for a delete
	body       tree.Tree           // the body of a subresource if admission has changed it
	faults     *schema.Faults      // found while a write was prepared; may be nil
	removal    *Candidate          // set for stepUnreadable
	attributes *request.Attributes // the change as plugins see it; nil until they run
	step       step
	// completed means that complete has run at least once. It runs again after admission changes
	// the object.
	completed bool
	// taken means that the name of the new object is already in use. The create fails only in
	// Reserve, so that all other errors are reported first.
	taken              bool
	takenByTerminating bool // the existing object is being deleted
	// mutated means that the blocking Mutators already ran before the object was renamed.
	mutated bool
}

// step selects the work that remains for Finish.
type step uint8

const (
	stepNoOp step = iota // nothing: a no-op apply
	stepCreate
	stepUpdate
	stepRemove
	stepUnreadable // removes an object that cannot be decoded
)

// Prepare computes the desired state after m is applied to cur. Errors are *meta.Status. Prepare
// discards the warnings and audit annotations of earlier attempts.
func Prepare(cur State, m *request.Mutation, env Env) (Prepared, error) {
	m.Recorder.Reset()
	switch c := m.Change.(type) {
	case request.Create:
		return prepareCreate(cur, m, env)
	case request.Update:
		return prepareUpdate(cur, m, env)
	case request.Patch:
		return preparePatch(cur, m, c, env)
	case request.Apply:
		return prepareApply(cur, m, c, env)
	case request.Delete:
		return prepareRemove(cur, m, c, env)
	}
	return Prepared{}, meta.NewMethodNotAllowed()
}

// PrepareUnreadable prepares the removal of an object that cannot be decoded. Admission plugins
// receive seen as the object.
func PrepareUnreadable(m *request.Mutation, seen tree.Tree, removal Candidate) Prepared {
	return Prepared{cur: State{Tree: seen}, mutation: m, step: stepUnreadable, removal: &removal}
}

// complete sets the fields that depend on other fields. It runs again after admission has changed
// the object.
func (p *Prepared) complete() {
	p.dropDuplicateOwners()
	stored := p.mutation.Kind.Stored
	if featured := rules.Featured(stored); featured != nil {
		rules.DropDisabled(featured, p.want, p.cur.Tree)
	}
	if s, ok := stored.Strategy.(schema.Stamper); ok && p.mutation.Subresource == "" {
		s.Stamp(p.want, p.cur.Tree, timestamp(p.env.Now))
	}
	if p.step == stepCreate {
		p.completeNew()
		return
	}
	switch {
	case p.step != stepUpdate:
	case p.mutation.Subresource != "":
		stored.Strategy.PrepareSubresource(p.want, p.cur.Tree)
	case stored.Preparer != nil:
		stored.Preparer.Prepare(p.want, p.cur.Tree)
	}
}

// change returns the admission attributes for changing the current object to wanted. The mutation
// must have an Admission.
func (p *Prepared) change(wanted tree.Tree) *request.Attributes {
	a := p.attributes
	if a == nil {
		a = request.NewAttributes(p.env.Context, p.mutation, p.cur.Tree, wanted)
		if p.cur.Object != nil && p.cur.Committed {
			a.OldVersion = p.cur.Object.Version
		}
		a.Conversions = p.env.Conversions
		p.attributes = a
	}
	a.SetChange(p.cur.Tree, wanted)
	a.Body, a.Reinvocation, a.Complete = p.body, false, nil
	return a
}

// Admit runs the Mutators that do not block.
func (p *Prepared) Admit() error {
	switch {
	case p.step == stepNoOp:
		return nil
	case p.cur.Tree == nil && p.mutation.CreateRefusal != nil:
		return p.mutation.CreateRefusal
	}
	return p.admit(false)
}

func (p *Prepared) admit(reinvocation bool) error {
	if p.mutation.Admission == nil {
		return nil
	}
	a := p.change(p.want)
	a.Reinvocation, a.Complete = reinvocation, p.rewrite
	return a.Admit(request.InTurn)
}

func (p *Prepared) validate() error {
	if p.mutation.Admission == nil {
		return nil
	}
	return p.change(p.want).Validate(request.InTurn)
}

// Waits reports whether admission of the change may block. The caller must then use Wait.
func (p *Prepared) Waits() bool {
	return p.step != stepNoOp && p.mutation.Admission.MayBlock() && p.change(p.want).Waits()
}

// Finish returns the candidate of an admitted change. Errors are *meta.Status.
func (p *Prepared) Finish() (c Candidate, err error) {
	switch p.step {
	case stepNoOp:
		c = Candidate{Op: None, NoOp: true, Tree: p.cur.Tree}
	case stepCreate:
		c, err = p.finishCreate()
	case stepUpdate:
		c, err = p.finishUpdate()
	case stepRemove:
		c, err = p.finishRemove()
	case stepUnreadable:
		c, err = *p.removal, p.validate()
	}
	if c.Op == Remove && err == nil && p.step != stepUnreadable {
		c.Reserved.Release()
		c.Reserved, _ = p.env.allocate(p.mutation.Key, p.cur.Tree, nil)
	}
	return c, err
}

// Reserve reserves resources that admission limits, such as quota, for a finished change. If the
// reservation fails or panics, Reserve releases all reservations of the candidate.
func (p *Prepared) Reserve(c *Candidate) error {
	if c.Op == None {
		return nil
	}
	pending := c.Reserved
	c.Reserved = nil
	defer func() { pending.Release() }()
	var reserved *request.Reservation
	if p.mutation.Admission != nil {
		wanted := c.Tree
		if c.Op == Remove {
			wanted = nil
		}
		var err error
		if reserved, err = p.change(wanted).AdmitLast(); err != nil {
			return err
		}
	}
	if p.taken {
		reserved.Release()
		taken := meta.NewAlreadyExists(p.mutation.Kind.GroupResource(), p.mutation.Key.Name)
		if p.takenByTerminating {
			taken.Message = "object is being deleted: " + taken.Message
		}
		return taken
	}
	c.Reserved, pending = pending.With(reserved), nil
	return nil
}
