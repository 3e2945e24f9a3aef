package mutation

import (
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// rewrite completes an object that a mutating plugin has changed. It reverts fields that the
// request may not change, and sets defaults. object is in the stored version, or is the body of a
// subresource such as a Scale.
func (p *Prepared) rewrite(object tree.Tree) (tree.Tree, error) {
	if sub := p.mutation.Kind.Subresource(p.mutation.Subresource); sub != nil && sub.BodyKind != nil {
		err := p.writeBody(object)
		return p.want, err
	}
	before := p.want
	p.want = tree.Clone(object).(tree.Tree) // it may share memory with the current state
	if err := p.restrictAdmission(before); err != nil {
		return nil, err
	}
	rules.Default(p.mutation.Kind.Stored, p.want)
	p.complete()
	p.keepRequester(before)
	return p.want, nil
}

// writeBody writes a subresource body back to the object after admission has changed the body.
func (p *Prepared) writeBody(body tree.Tree) error {
	if err := p.checkBody(body); err != nil {
		return err
	}
	p.body = body
	scoped := tree.Clone(p.cur.Tree).(tree.Tree)
	p.faults = new(schema.Faults)
	sub := p.mutation.Kind.Subresource(p.mutation.Subresource)
	if err := sub.View.Write(scoped, p.body, timestamp(p.env.Now), p.faults); err != nil {
		return err
	}
	setManagedFields(scoped, managedFields(p.want))
	p.want = scoped
	rules.Default(p.mutation.Kind.Stored, p.want)
	p.complete()
	return nil
}

// checkBody returns an error if admission has changed the name, namespace or version in a body.
func (p *Prepared) checkBody(body tree.Tree) error {
	m, metadata := p.mutation, childObject(body, "metadata")
	if request.Is[request.Create](m) { // its View checks the body
		return nil
	}
	if name := metadata.String("name"); name != m.Key.Name {
		return errName(m, name)
	}
	if namespace := metadata.String("namespace"); namespace != "" && m.Kind.Namespaced && namespace != m.Key.Namespace {
		return errNamespace()
	}
	return checkPreconditions(p.cur, m, body)
}
