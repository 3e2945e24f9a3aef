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
	warnings, err := p.mutate(ctx)
	if err != nil {
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
	}
	verdict, err := p.mutation.Waiting.Validate(ctx, change)
	if err != nil {
		return Candidate{}, err
	}
	c.Warnings = append(append(warnings, c.Warnings...), verdict.Warnings...)
	c.Reserved = request.Reservations(pending.transfer(), verdict.Reservation)
	return c, nil
}

// mutate lets the waiting admission change the wanted state. What it makes of it is completed and
// admitted again.
func (p *Prepared) mutate(ctx context.Context) (warnings []string, err error) {
	if p.want == nil {
		return p.mutation.Waiting.Mutate(ctx, p.change())
	}
	before := p.want // which may share with the current state
	p.want = tree.Clone(before).(tree.Tree)
	if warnings, err = p.mutation.Waiting.Mutate(ctx, p.change()); err != nil {
		return warnings, err
	}
	if tree.StrictEqual(before, p.want) {
		return warnings, nil
	}
	if err = p.restrictAdmission(before); err != nil {
		return warnings, err
	}
	rules.Default(p.mutation.Kind.Stored, p.want)
	p.complete()
	return warnings, p.Admit()
}

// admissionKeeps are the fields of metadata that no admission changes.
var admissionKeeps = []string{
	"name", "generateName", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
	"generation", "managedFields", "resourceVersion", "selfLink",
}

// restrictAdmission takes back what an admission has changed but the request itself could not have
// changed: a write of the object leaves its status alone, one of a sub-resource everything else. A
// sub-resource with a body of its own kind, such as a scale, stays as it was prepared.
func (p *Prepared) restrictAdmission(before tree.Tree) error {
	m := p.mutation
	switch sub := m.Kind.Subresource(m.Subresource); {
	case m.Subresource == "":
		if m.Kind.Subresource("status") != nil {
			p.want.CopyField(before, "status")
		}
	case sub == nil || sub.BodyKind != nil:
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
	metadata, was := tree.Clone(childObject(p.want, "metadata")).(tree.Tree), childObject(before, "metadata")
	for _, name := range admissionKeeps {
		metadata.CopyField(was, name)
	}
	p.want["metadata"] = metadata
	return nil
}
