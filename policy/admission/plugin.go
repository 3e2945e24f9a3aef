package admission

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
)

// Attributes are a change that a user asks for. Old is nil for a create, New for a delete; both
// are in stored form, and only New may be changed.
type Attributes struct {
	User        *authn.User
	Verb        request.Verb
	Kind        *schema.Kind // as the request names it
	Subresource string       // "" for the object itself
	Key         meta.Key
	DryRun      bool
	Old, New    tree.Tree
}

// A Plugin completes or refuses changes. It waits for nothing. Errors are *meta.Status.
type Plugin interface {
	Admit(a *Attributes) error
}

// A Validator is a Plugin that also looks at a change after it has passed validation. It changes
// nothing.
type Validator interface {
	Plugin
	Validate(a *Attributes) error
}

// A Preparer is a Plugin that has to find something out before the change begins, because it may
// take long. What Prepare returns takes the plugin's place for that one request. There may be no
// object of the key.
type Preparer interface {
	Plugin
	Prepare(user *authn.User, key meta.Key) Plugin
}

// attributesOf is a change as plugins see it.
func attributesOf(user *authn.User, c request.Change) *Attributes {
	m := c.Mutation
	return &Attributes{
		User: user, Verb: m.Verb, Kind: m.Kind, Subresource: m.Subresource, Key: m.Key, DryRun: m.DryRun,
		Old: c.Old, New: c.New,
	}
}

// IsCreate tells that the change makes a new object.
func (a *Attributes) IsCreate() bool { return a.Old == nil && a.New != nil }

// Forbidden refuses the change.
func (a *Attributes) Forbidden(reason string) error {
	return meta.NewForbidden(meta.GroupResource{Group: a.Kind.Group, Resource: a.Kind.Resource}, a.Key.Name, reason)
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
func (a *pluginAdmission) Applies(operation request.Verb) bool {
	return slices.ContainsFunc(a.plugins, func(p boundPlugin) bool { return p.registration.runsFor(a.user, operation) })
}

// Admit implements request.Admission.
func (a *pluginAdmission) Admit(c request.Change) error {
	attributes, operation := attributesOf(a.user, c), c.Operation()
	for _, p := range a.plugins {
		if !p.registration.runsFor(a.user, operation) {
			continue
		}
		if err := p.plugin.Admit(attributes); err != nil {
			return err
		}
	}
	return nil
}

// Validate implements request.Admission.
func (a *pluginAdmission) Validate(c request.Change) error {
	operation := c.Operation()
	for _, p := range a.plugins {
		v, ok := p.plugin.(Validator)
		if !ok || !p.registration.runsFor(a.user, operation) {
			continue
		}
		if err := v.Validate(attributesOf(a.user, c)); err != nil {
			return err
		}
	}
	return nil
}
