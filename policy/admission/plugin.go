package admission

import (
	"context"
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
)

// Attributes are a change that a user asks for. Old is nil for a create, New for a delete; both
// are in stored form. Only New may be changed, by Edit, because what an update leaves as it is New shares with Old.
type Attributes struct {
	User        *authn.User
	Operation   request.Verb // Create, Update, Delete or Connect
	Kind        *schema.Kind // as the request names it
	Subresource string       // "" for the object itself
	Key         meta.Key
	Old, New    tree.Tree
	OldVersion  uint64 // of Old; 0 if it has none yet
	// Body is what is written to a sub-resource that has a body of a kind of its own, while a
	// WaitingCall is asked, which changes it instead of New; nil elsewhere.
	Body tree.Tree
	// Reinvocation says that the change is asked about once more, because a waiting plugin, or one that calls Rewrite, has
	// made another one of it.
	Reinvocation bool
	// Mutation is what was asked for, with its options. It must not be changed.
	Mutation *request.Mutation
	// Context ends when nobody waits for the outcome any more.
	Context context.Context

	completer request.Completer
	rewritten bool
}

// A Plugin completes or refuses changes. It is one or several of the interfaces below, by which it says what it
// does. It waits for nothing. Errors are *meta.Status.
type Plugin any

// An Admitter looks at a change before it is validated, and may change New, by Edit. It alone may: where no plugin of a
// resource is one, the body of a request is not copied.
type Admitter interface {
	Admit(a *Attributes) error
}

// A Validator looks at a change after it has passed validation. It changes nothing.
type Validator interface {
	Validate(a *Attributes) error
}

// A Selector says beforehand, for any change of a resource, whether it has anything to do at all, so
// that others cost nothing.
type Selector interface {
	Selects(k *schema.Kind, subresource string) bool
}

// A Reserver sets aside what a change takes of something shared, such as a quota, after
// all others have let it pass. Reserve returns nil if the change takes nothing.
type Reserver interface {
	Reserve(a *Attributes) (*request.Reservation, error)
}

// A Preparer has to find something out before the change begins, because it may
// take long. What Prepare returns takes the plugin's place for that one request. There may be no
// object of the key.
type Preparer interface {
	Prepare(user *authn.User, verb request.Verb, key meta.Key) Plugin
}

// A Provisioner makes what new objects need, such as their namespace, before a change
// begins.
type Provisioner interface {
	Provision(ctx context.Context, k *schema.Kind, key meta.Key) error
}

// attributesOf is a change as plugins see it.
func attributesOf(user *authn.User, c request.Change) *Attributes {
	m := c.Mutation
	return &Attributes{
		User: user, Operation: c.Operation(), Kind: m.Kind, Subresource: m.Subresource, Key: m.Key,
		Old: c.Old, New: c.New, OldVersion: c.OldVersion, Body: c.Body, Reinvocation: c.Reinvocation, Mutation: m,
		Context: c.Context(), completer: c.Completer,
	}
}

// Rewrite makes another object the New of the change, in stored form, or another body that of its sub-resource. What the
// request itself could not have changed stays as it was, and what is missing gets its default.
func (a *Attributes) Rewrite(object tree.Tree) error {
	a.rewritten = true
	if a.completer == nil { // of an operation, or while a waiting plugin is asked: whoever asks takes what is changed
		target := a.New
		if a.Body != nil {
			target = a.Body
		}
		maps.DeleteFunc(target, func(name string, _ any) bool { return !object.Has(name) })
		maps.Copy(target, object)
		return nil
	}
	completed, err := a.completer.Rewrite(object)
	if err != nil {
		return err
	}
	a.New = completed
	if sub := a.Kind.Subresource(a.Subresource); sub != nil && sub.BodyKind != nil {
		a.Body = object
	}
	return nil
}

// Edit is the object at a path of names inside New, to be written to: what New shares with Old on the way there is copied
// before, and what is missing is made. Only the object itself may be written to, not what is inside it.
func (a *Attributes) Edit(path ...string) tree.Tree {
	object, was := a.New, a.Old
	for _, name := range path {
		part, there := object[name].(tree.Tree)
		was = was.Object(name)
		switch {
		case !there:
			part = tree.Tree{}
			object[name] = part
		case was != nil && tree.SameRef(part, was):
			part = maps.Clone(part)
			object[name] = part
		}
		object = part
	}
	return object
}

// EditAll is the object called name inside New, to be written to with all that is inside it.
func (a *Attributes) EditAll(name string) tree.Tree {
	if a.Old == nil {
		return a.New.EnsureObject(name)
	}
	object, _ := tree.Clone(a.New.EnsureObject(name)).(tree.Tree)
	a.New[name] = object
	return object
}

// IsCreate tells that the change makes a new object.
func (a *Attributes) IsCreate() bool { return a.Operation == request.Create }

// DryRun tells that the change is not going to be stored.
func (a *Attributes) DryRun() bool { return a.Mutation.DryRun }

// Forbidden refuses the change.
func (a *Attributes) Forbidden(reason string) error {
	return meta.NewForbidden(a.GroupResource(), a.Key.Name, reason)
}

// GroupResource is the resource that the request names.
func (a *Attributes) GroupResource() meta.GroupResource {
	return meta.GroupResource{Group: a.Kind.Group, Resource: a.Kind.Resource}
}

// Warn tells the client something, whether the change is refused or not.
func (a *Attributes) Warn(texts ...string) { a.Mutation.Recorder.Warn(texts...) }

// Annotate adds a fact to the audit event of the request, at any level. The key has the names of the
// server's naming profile. The first value of a key counts: it is false for another one.
func (a *Attributes) Annotate(key, value string) bool {
	return a.Mutation.Recorder.Annotate(request.Annotation{Key: key, Value: value})
}

// AnnotateDetail adds a fact to the audit event of the request if that holds the body of the request.
func (a *Attributes) AnnotateDetail(key, value string) {
	a.Mutation.Recorder.Annotate(request.Annotation{Key: key, Value: value, Detailed: true})
}

// boundPlugin is a plugin for one request.
type boundPlugin struct {
	registration *Registration
	plugin       Plugin
}

// pluginAdmission is the plugins for one request.
type pluginAdmission struct {
	user    *authn.User
	plugins []boundPlugin
}

var _ request.Admission = (*pluginAdmission)(nil)

// Applies implements request.Admission.
func (p *pluginAdmission) Applies(operation request.Verb) bool {
	return slices.ContainsFunc(p.plugins, func(b boundPlugin) bool { return b.registration.runsFor(p.user, operation) })
}

// AppliesToNoOp implements request.Admission.
func (p *pluginAdmission) AppliesToNoOp() bool {
	return slices.ContainsFunc(p.plugins, func(b boundPlugin) bool { return b.registration.runsForNoOp(p.user) })
}

// MayChange implements request.Admission.
func (p *pluginAdmission) MayChange(operation request.Verb) bool {
	return slices.ContainsFunc(p.plugins, func(b boundPlugin) bool {
		_, ok := b.plugin.(Admitter)
		return ok && b.registration.runsFor(p.user, operation)
	})
}

// Admit implements request.Admission.
func (p *pluginAdmission) Admit(c request.Change) error {
	a := attributesOf(p.user, c)
	if err := p.admit(a); err != nil || !a.rewritten || a.Reinvocation {
		return err
	}
	a.Reinvocation = true // the plugins before the one that has made another object of it have not seen that
	return p.admit(a)
}

func (p *pluginAdmission) admit(a *Attributes) error {
	for _, b := range p.plugins {
		admitter, ok := b.plugin.(Admitter)
		if !ok || !b.registration.runsFor(p.user, a.Operation) {
			continue
		}
		if err := admitter.Admit(a); err != nil {
			return err
		}
	}
	return nil
}

// Validate implements request.Admission.
func (p *pluginAdmission) Validate(c request.Change) error {
	a := attributesOf(p.user, c)
	for _, b := range p.plugins {
		v, ok := b.plugin.(Validator)
		if !ok || !b.registration.runsFor(p.user, a.Operation) {
			continue
		}
		if err := v.Validate(a); err != nil {
			return err
		}
	}
	return nil
}

// Reserve implements request.Admission. What one plugin has reserved is released if a later one
// refuses, or panics.
func (p *pluginAdmission) Reserve(c request.Change) (*request.Reservation, error) {
	var all *request.Reservation
	passed := false
	defer func() {
		if !passed {
			all.Release()
		}
	}()
	a := attributesOf(p.user, c)
	for _, b := range p.plugins {
		r, ok := b.plugin.(Reserver)
		if !ok || !b.registration.runsFor(p.user, a.Operation) {
			continue
		}
		one, err := r.Reserve(a)
		if err != nil {
			return nil, err
		}
		all = all.With(one)
	}
	passed = true
	return all, nil
}
