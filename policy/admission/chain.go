package admission

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
)

// An Attempt is a change that a user asks for. Old is nil for a create, New for a delete; both
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

// A Plugin has a say in attempts. Errors are *meta.Status.
type Plugin interface {
	Admit(a *Attributes) error
}

// An Asker is a Plugin that finds something out first for which a change cannot wait. For asks
// it, before the change begins; what Ask returns takes its place for that one request. There may
// be no object of the key.
type Preparer interface {
	Plugin
	Prepare(user *authn.User, key meta.Key) Plugin
}

// A Registration makes a Plugin known.
type Registration struct {
	// Name is by which the plugin is switched on and off; "" for one that always runs.
	Name string
	// DisabledByDefault: it does not run unless it is switched on.
	DisabledByDefault bool
	// Resources that it has a say in, as "group/resource" or "group/resource/sub-resource" in
	// platform form, "/pods" being of the core group.
	Resources []string
	Plugin    Plugin
}

// A Chain asks its plugins in the order of their registration.
type Chain struct {
	plugins map[resourceKey][]Plugin
}

// resourceKey is what a plugin is registered for.
type resourceKey struct {
	meta.GroupResource
	sub string
}

// PluginConfig say which plugins run, by name, beside those that run by themselves.
type PluginConfig struct{ Enabled, Disabled []string }

// New makes a Chain of the registrations that the switches leave on.
func New(naming *meta.Naming, switches PluginConfig, all []Registration) *Chain {
	c := &Chain{plugins: map[resourceKey][]Plugin{}}
	for _, r := range all {
		on := !r.DisabledByDefault || slices.Contains(switches.Enabled, r.Name)
		if r.Name != "" && (!on || slices.Contains(switches.Disabled, r.Name)) {
			continue
		}
		for _, name := range r.Resources {
			parts := append(strings.SplitN(name, "/", 3), "")
			at := resourceKey{meta.GroupResource{Group: naming.Translate(parts[0]), Resource: parts[1]}, parts[2]}
			c.plugins[at] = append(c.plugins[at], r.Plugin)
		}
	}
	return c
}

// Names are the plugins that can be switched, in alphabetical order.
func Names(all []Registration) []string {
	var names []string
	for _, r := range all {
		if r.Name != "" {
			names = append(names, r.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// For is what has a say when user changes an object; nil if nothing has. It may wait for what its
// plugins have to ask.
func (c *Chain) For(user *authn.User, k *schema.Kind, subresource string, key meta.Key) request.Admission {
	if c == nil {
		return nil
	}
	plugins := c.plugins[resourceKey{k.Storage, subresource}]
	if len(plugins) == 0 {
		return nil
	}
	asked := slices.Clone(plugins)
	for i, p := range asked {
		if asker, ok := p.(Preparer); ok {
			asked[i] = asker.Prepare(user, key)
		}
	}
	return &pluginAdmission{user, asked}
}

// pluginAdmission is the plugins for one request.
type pluginAdmission struct {
	user    *authn.User
	plugins []Plugin
}

// Admit implements request.Admission.
func (a *pluginAdmission) Admit(c request.Change) error {
	m := c.Mutation
	attempt := &Attributes{
		User: a.user, Verb: m.Verb, Kind: m.Kind, Subresource: m.Subresource, Key: m.Key, DryRun: m.DryRun,
		Old: c.Old, New: c.New,
	}
	for _, p := range a.plugins {
		if err := p.Admit(attempt); err != nil {
			return err
		}
	}
	return nil
}

// IsCreate tells that the attempt makes a new object.
func (a *Attributes) IsCreate() bool { return a.Old == nil && a.New != nil }

// Forbidden is the refusal of the attempt.
func (a *Attributes) Forbidden(reason string) error {
	return meta.NewForbidden(meta.GroupResource{Group: a.Kind.Group, Resource: a.Kind.Resource}, a.Key.Name, reason)
}
