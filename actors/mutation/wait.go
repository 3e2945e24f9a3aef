package mutation

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/troupe-api/troupe/kinds/managedfields"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Wait replaces Finish if Waits returns true. It runs plugins that may block, so the object's owner
// must not call it. If the object has changed in the meantime, the caller must discard the
// candidate and release its reservation. If Renamed returns true after Wait, there is no candidate.
func (p *Prepared) Wait(ctx context.Context) (Candidate, error) {
	p.env.Context = ctx
	if p.attributes != nil {
		p.attributes.Context = ctx
	}
	if !p.mutated {
		p.mutated = true
		if err := p.mutate(); err != nil || p.Renamed() {
			return Candidate{}, err
		}
	}
	c, err := p.Finish()
	if err != nil {
		return Candidate{}, err
	}
	pending := c.Reserved
	defer func() { pending.Release() }()
	a := p.change(p.want)
	if p.want != nil {
		a.New = tree.Clone(c.Tree).(tree.Tree) // other requests may read c.Tree
		a.Body = p.subresourceBody()
	}
	if err := a.Validate(request.MayBlock); err != nil {
		return Candidate{}, err
	}
	pending = nil
	return c, nil
}

// mutate runs the mutating plugins that may block. If they change the object, mutate reruns all
// other mutating plugins, and then the blocking plugins.
func (p *Prepared) mutate() error {
	if p.want == nil {
		return p.change(nil).Admit(request.MayBlock)
	}
	changed, err := p.mutateOnce(false)
	if err != nil || !changed {
		return err
	}
	if err := p.admit(true); err != nil {
		return err
	}
	_, err = p.mutateOnce(true)
	return err
}

// mutateOnce runs the Mutators that may block, and reports whether they changed the desired state.
func (p *Prepared) mutateOnce(reinvocation bool) (changed bool, err error) {
	before := p.want // may share memory with the current state
	if body := p.subresourceBody(); body != nil {
		return p.mutateBody(body, reinvocation)
	}
	p.want = tree.Clone(before).(tree.Tree)
	a := p.change(p.want)
	a.Reinvocation = reinvocation
	if err := a.Admit(request.MayBlock); err != nil || tree.StrictEqual(before, p.want) {
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

// subresourceBody returns a copy of the body of a subresource with its own kind, and nil for other
// mutations.
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
	case m.Body() != nil:
		return tree.Clone(m.Body()).(tree.Tree)
	}
	return nil
}

// mutateBody is mutateOnce for the body of a subresource. It writes the changed body to the object.
func (p *Prepared) mutateBody(body tree.Tree, reinvocation bool) (changed bool, err error) {
	a := p.change(tree.Clone(p.want).(tree.Tree)) // changes to the copy are ignored
	a.Body, a.Reinvocation = tree.Clone(body).(tree.Tree), reinvocation
	if err := a.Admit(request.MayBlock); err != nil || tree.StrictEqual(body, a.Body) {
		return false, err
	}
	if err := p.writeBody(a.Body); err != nil {
		return false, err
	}
	return true, nil
}

// restrictAdmission reverts changes by admission that the request itself could not make. On the
// main resource, admission cannot change the status. On a subresource, it can change only the
// fields of that subresource.
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
		metadata := subresourceMetadata(childObject(scoped, "metadata"), childObject(p.want, "metadata"), sub.KeepsMetadata)
		for _, name := range []string{"name", "namespace", "uid", "managedFields", "resourceVersion"} { // rejected elsewhere, or not part of the subresource
			metadata.CopyField(childObject(p.want, "metadata"), name)
		}
		scoped["metadata"] = metadata
		p.want = scoped
	}
	return p.settleMetadata(before)
}

// keepRequester restores the fields of a new object that identify its requester. An earlier plugin
// has set them from the authenticated user, and webhooks must not change them.
func (p *Prepared) keepRequester(before tree.Tree) {
	if p.step != stepCreate {
		return
	}
	for _, name := range p.mutation.Kind.Stored.Strategy.Requester() {
		p.want.EnsureObject("spec").CopyField(before.Object("spec"), name)
	}
}

// settleMetadata treats metadata changes by admission like changes by the client. Server-managed
// fields keep their values. A namespace, name or version that does not match the request is an
// error. Validation checks the other changes.
func (p *Prepared) settleMetadata(before tree.Tree) error {
	m, was := p.mutation, childObject(before, "metadata")
	metadata := tree.Clone(childObject(p.want, "metadata")).(tree.Tree)
	p.want["metadata"] = metadata
	if name := metadata.String("name"); p.step == stepCreate && !request.Is[request.Create](m) && name != m.Key.Name {
		return errName(m, name)
	}
	switch namespace := metadata.String("namespace"); {
	case !m.Kind.Namespaced:
		delete(metadata, "namespace")
	case namespace == "":
		metadata["namespace"] = m.Key.Namespace
	case namespace != m.Key.Namespace:
		return errNamespace()
	}
	if p.step == stepCreate && (metadata.Has("deletionTimestamp") || metadata.Has("deletionGracePeriodSeconds")) {
		return meta.NewInvalid(kindName(m.Kind), m.Key.Name, []meta.Cause{{
			Type: meta.CauseForbidden, Field: "metadata.deletionTimestamp", Message: "Forbidden: a new object is not being deleted"}})
	}
	for _, name := range []string{"creationTimestamp", "selfLink"} {
		metadata.CopyField(was, name)
	}
	if p.step == stepUpdate || m.Kind.Stored.Writes.Generation {
		metadata.CopyField(was, "generation")
	}
	if p.step == stepUpdate && was.Has("deletionTimestamp") {
		metadata.CopyField(was, "deletionTimestamp")
	}
	for _, name := range []string{"uid", "deletionGracePeriodSeconds"} {
		if !metadata.Has(name) || p.step == stepCreate && name == "uid" {
			metadata.CopyField(was, name)
		}
	}
	p.settleManagers(metadata, was)
	return p.settleVersion(metadata)
}

// settleManagers normalizes managedFields that admission has changed. If they are invalid, it
// restores the previous managedFields and adds a warning.
func (p *Prepared) settleManagers(metadata, was tree.Tree) {
	requested, known := metadata.List("managedFields"), was.List("managedFields")
	if len(requested) == 0 || tree.SemanticEqual(requested, known) {
		return
	}
	list, ok := managedfields.Normalize(requested)
	if !ok {
		list = known
		p.mutation.Recorder.Warn(".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests")
	}
	setManagedFields(tree.Tree{"metadata": metadata}, list)
}

func (p *Prepared) settleVersion(metadata tree.Tree) error {
	requested, there := metadata["resourceVersion"]
	delete(metadata, "resourceVersion")
	version, _ := requested.(string)
	switch _, err := strconv.ParseUint(version, 10, 64); {
	case !there:
		return nil
	case p.step == stepUpdate && err != nil && version != "":
		return newInternal(fmt.Sprintf("admission set the resourceVersion to the invalid value %q", version))
	case p.step == stepUpdate:
		return checkVersion(p.cur, p.mutation, version, true)
	case err == nil && version != "0" && !p.mutation.DryRun:
		return newInternal("resourceVersion should not be set on objects to be created")
	}
	return nil
}

func newInternal(text string) error {
	return &meta.Status{Code: http.StatusInternalServerError, Reason: meta.ReasonInternalError, Message: "Internal error occurred: " + text}
}

func errNamespace() error {
	return meta.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
}

func errName(m *request.Mutation, name string) error {
	return meta.NewBadRequest("the name of the object (" + name + ") does not match the name on the URL (" + m.Key.Name + ")")
}

// Renamed reports whether admission has changed or removed the name of a new object. The caller
// must then continue the create with Rename.
func (p *Prepared) Renamed() bool {
	return p.step == stepCreate && request.Is[request.Create](p.mutation) && childObject(p.want, "metadata").String("name") != p.mutation.Key.Name
}

// Name returns the name of the desired object and its generateName prefix.
func (p *Prepared) Name() (name, prefix string) {
	metadata := childObject(p.want, "metadata")
	return metadata.String("name"), metadata.String("generateName")
}

// Rename returns a copy of p for a create under the name in m. p has already passed mutating
// admission. conversions replaces the Conversions of p. If taken is set, Reserve fails with
// AlreadyExists.
func (p Prepared) Rename(m *request.Mutation, conversions request.Conversions, taken bool) Prepared {
	p.mutation, p.env.Conversions, p.taken, p.attributes = m, conversions, taken, nil
	p.want = tree.Clone(p.want).(tree.Tree) // for a later retry
	if m.Key.Name != "" {
		childObject(p.want, "metadata")["name"] = m.Key.Name
	}
	return p
}
