package mutation

import (
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// rewrite completes the object that a Mutator wants instead of the one it has seen: what the request could not have
// changed stays as it was, and missing fields get their defaults. object is in stored form, or the body of a
// subresource that has one of another kind.
func (p *Prepared) rewrite(object tree.Tree) (tree.Tree, error) {
	if sub := p.mutation.Kind.Subresource(p.mutation.Subresource); sub != nil && sub.BodyKind != nil {
		err := p.writeBody(object)
		return p.want, err
	}
	before := p.want
	p.want = tree.Clone(object).(tree.Tree) // which may share with the current state
	if err := p.restrictAdmission(before); err != nil {
		return nil, err
	}
	rules.Default(p.mutation.Kind.Stored, p.want)
	p.complete()
	p.keepRequester(before)
	return p.want, nil
}

// writeBody writes the body of a sub-resource to the object again, because an admission has changed it.
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

// checkBody checks that a body that admission has changed still names the object of the request,
// and its version.
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
