package mutation

import (
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Prepared is a mutation between Prepare and Finish: the wanted state, as far as it is known before
// policy has had its say.
type Prepared struct {
	cur      State
	mutation *request.Mutation
	env      Env
	step     step
	want     tree.Tree      // the wanted state, which belongs to the mutation; nil for a delete
	faults   *schema.Faults // found while an update was prepared
	warnings []string
	removal  *Candidate // of stepUnreadable
}

// step is what is left to be done.
type step uint8

const (
	stepNoOp step = iota // nothing: an apply changes nothing
	stepCreate
	stepUpdate
	stepRemove
	stepUnreadable // removes an object that cannot be read
)

// Prepare makes the wanted state of m on the state cur. Errors are *meta.Status.
func Prepare(cur State, m *request.Mutation, env Env) (Prepared, error) {
	switch m.Verb {
	case request.Create:
		return prepareCreate(cur, m, env)
	case request.Update:
		return prepareUpdate(cur, m, env)
	case request.Patch:
		return preparePatch(cur, m, env)
	}
	return prepareRemove(cur, m, env)
}

// PrepareUnreadable prepares the removal of an object that cannot be read. seen is what admission gets
// to see of it.
func PrepareUnreadable(m *request.Mutation, seen tree.Tree, removal Candidate) Prepared {
	return Prepared{cur: State{Tree: seen}, mutation: m, step: stepUnreadable, removal: &removal}
}

// complete completes what depends on the object as a whole, also after an admission has changed it.
func (p *Prepared) complete() {
	switch prepare := p.mutation.Kind.Stored.Rules.Prepare; {
	case p.step == stepCreate:
		p.completeNew()
	case p.step == stepUpdate && prepare != nil && p.mutation.Subresource == "":
		prepare(p.want, p.cur.Tree)
	}
}

// change is what admission gets to see.
func (p *Prepared) change() request.Change {
	return request.Change{Mutation: p.mutation, Old: p.cur.Tree, New: p.want}
}

// Admit lets the mutation's Admission complete or refuse the change.
func (p *Prepared) Admit() error {
	if p.step == stepNoOp {
		return nil
	}
	return p.mutation.Admit(p.cur.Tree, p.want)
}

// Waits tells whether the change has to be admitted by Wait.
func (p *Prepared) Waits() bool {
	return p.mutation.Waiting != nil && p.step != stepNoOp && p.mutation.Waiting.Applies(p.change())
}

// Finish makes the candidate of an admitted change. Errors are *meta.Status, and leave everything
// as it was.
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
		c, err = *p.removal, p.mutation.ValidateAdmission(p.cur.Tree, nil)
	}
	if c.Reserved == nil {
		c.Reserved = request.NoReservation
	}
	if c.Op == Remove && err == nil && p.step != stepUnreadable {
		c.Reserved.Release()
		c.Reserved, _ = p.env.allocate(p.mutation.Key, p.cur.Tree, nil)
	}
	if len(p.warnings) > 0 {
		c.Warnings = append(p.warnings, c.Warnings...)
	}
	return c, err
}
