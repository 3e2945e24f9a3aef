package mutation

import (
	"context"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Wait takes the place of Finish where Waits says so. It asks the waiting admission and may take
// long: it must not run in the owner's turn. The candidate counts only if the state is still
// current; whoever holds it releases what it has reserved otherwise.
func (p *Prepared) Wait(ctx context.Context) (Candidate, error) {
	p.env.Context = ctx
	call := p.mutation.Waiting.Begin()
	if err := p.mutate(ctx, call); err != nil {
		return Candidate{}, err
	}
	c, err := p.Finish()
	if err != nil {
		return Candidate{}, err
	}
	pending := pendingReservation{c.Reserved}
	defer pending.release()
	change := p.change()
	if p.want != nil {
		change.New = tree.Clone(c.Tree).(tree.Tree) // which others read soon
		change.Body = p.subresourceBody()
	}
	if err := call.Validate(ctx, change); err != nil {
		return Candidate{}, err
	}
	c.Reserved = pending.transfer()
	return c, nil
}

// mutate lets the waiting admission change the wanted state. What it makes of it is completed and
// admitted again, and the waiting admission is asked once more.
func (p *Prepared) mutate(ctx context.Context, call request.WaitingCall) error {
	if p.want == nil {
		return call.Mutate(ctx, p.change())
	}
	changed, err := p.mutateOnce(ctx, call, false)
	if err != nil || !changed {
		return err
	}
	again := p.change()
	again.Reinvocation, again.Completer = true, p
	if err := again.Admit(); err != nil {
		return err
	}
	_, err = p.mutateOnce(ctx, call, true)
	return err
}

// mutateOnce asks the waiting admission to change the wanted state, and tells whether it has.
func (p *Prepared) mutateOnce(ctx context.Context, call request.WaitingCall, reinvocation bool) (changed bool, err error) {
	before := p.want // which may share with the current state
	if body := p.subresourceBody(); body != nil {
		return p.mutateBody(ctx, call, body, reinvocation)
	}
	p.want = tree.Clone(before).(tree.Tree)
	change := p.change()
	change.Reinvocation = reinvocation
	if err := call.Mutate(ctx, change); err != nil || tree.StrictEqual(before, p.want) {
		return false, err
	}
	if err := p.restrictAdmission(before); err != nil {
		return false, err
	}
	rules.Default(p.mutation.Kind.Stored, p.want)
	p.complete()
	p.keepRequester(before)
	return true, nil
}

// subresourceBody is a copy of what is written to a sub-resource that has a body of a kind of its own; nil for any
// other mutation.
func (p *Prepared) subresourceBody() tree.Tree {
	m := p.mutation
	sub := m.Kind.Subresource(m.Subresource)
	switch {
	case sub == nil || sub.BodyKind == nil || p.step != stepUpdate:
		return nil
	case p.body != nil:
		return tree.Clone(p.body).(tree.Tree)
	case sub.View.Read != nil:
		return tree.Clone(sub.View.Read(p.want)).(tree.Tree)
	case m.Object != nil:
		return tree.Clone(m.Object).(tree.Tree)
	}
	return nil
}

// mutateBody asks the waiting admission to change the body of a sub-resource, writes it to the object again, and
// tells whether it has changed.
func (p *Prepared) mutateBody(ctx context.Context, call request.WaitingCall, body tree.Tree, reinvocation bool) (changed bool, err error) {
	change := p.change()
	change.New = tree.Clone(p.want).(tree.Tree) // which counts for nothing
	change.Body, change.Reinvocation = tree.Clone(body).(tree.Tree), reinvocation
	if err := call.Mutate(ctx, change); err != nil || tree.StrictEqual(body, change.Body) {
		return false, err
	}
	if err := p.writeBody(change.Body); err != nil {
		return false, err
	}
	return true, nil
}

// admissionKeeps are the fields of metadata that no admission changes.
var admissionKeeps = []string{
	"name", "generateName", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
	"generation", "managedFields", "resourceVersion", "selfLink",
}

// restrictAdmission takes back what an admission has changed but the request itself could not have
// changed: a write of the object leaves its status alone, one of a sub-resource everything else.
func (p *Prepared) restrictAdmission(before tree.Tree) error {
	m := p.mutation
	switch sub := m.Kind.Subresource(m.Subresource); {
	case m.Subresource == "":
		if m.Kind.Subresource("status") != nil {
			p.want.CopyField(before, "status")
		}
	case sub == nil:
		p.want = tree.Clone(before).(tree.Tree)
	default:
		scoped := tree.Clone(p.cur.Tree).(tree.Tree)
		p.faults = new(schema.Faults)
		if err := sub.View.Write(scoped, p.want, timestamp(p.env.Now), p.faults); err != nil {
			return err
		}
		scoped["metadata"] = subresourceMetadata(childObject(scoped, "metadata"), childObject(p.want, "metadata"), sub.KeepsMetadata)
		p.want = scoped
	}
	p.keepMetadata(p.want, before)
	return nil
}

// keepRequester gives a new object that an admission has changed who asks for it, as another one has found before.
func (p *Prepared) keepRequester(before tree.Tree) {
	if p.step != stepCreate {
		return
	}
	for _, name := range p.mutation.Kind.Stored.Rules.Requester {
		p.want.EnsureObject("spec").CopyField(before.Object("spec"), name)
	}
}

// keepMetadata gives an object that an admission has changed what no admission changes.
func (p *Prepared) keepMetadata(object, before tree.Tree) {
	metadata, was := tree.Clone(childObject(object, "metadata")).(tree.Tree), childObject(before, "metadata")
	for _, name := range admissionKeeps {
		metadata.CopyField(was, name)
	}
	object["metadata"] = metadata
}
