package admission

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/authn"
)

// A Registration makes a plugin known.
type Registration struct {
	// Name is by which the plugin is switched on and off; "" for one that always runs.
	Name string
	// DisabledByDefault: it does not run unless it is switched on.
	DisabledByDefault bool
	// Resources it runs for, as "group/resource" or "group/resource/sub-resource" in platform form,
	// "/pods" being of the core group. "*" is for all, sub-resources too.
	Resources []string
	// Operations it runs for, of Create, Update and Delete; none means all.
	Operations []request.Verb
	// Users tells for whose changes it runs; nil means all.
	Users func(*authn.User) bool

	// Plugin and Waiting are what runs; one of them is set, or both.
	Plugin  Plugin
	Waiting WaitingPlugin
}

// allResources is a Registration's name of every resource.
const allResources = "*"

// runsFor tells whether the plugin runs for an operation by a user.
func (r *Registration) runsFor(user *authn.User, operation request.Verb) bool {
	return r.runsForUser(user) && (len(r.Operations) == 0 || slices.Contains(r.Operations, operation))
}

func (r *Registration) runsForUser(user *authn.User) bool { return r.Users == nil || r.Users(user) }

// A Chain asks its plugins in the order of their registration. The nil Chain has none.
type Chain struct {
	registrations []*Registration
	byResource    map[resourceKey][]*Registration
	forAll        []*Registration // which are also in the lists of byResource
}

// resourceKey is what a plugin is registered for.
type resourceKey struct {
	meta.GroupResource
	sub string
}

// PluginConfig says which plugins run, by name, beside those that run by default.
type PluginConfig struct{ Enabled, Disabled []string }

// New makes a Chain of the registrations that the switches leave on.
func New(naming *meta.Naming, switches PluginConfig, all []Registration) *Chain {
	c := &Chain{byResource: map[resourceKey][]*Registration{}}
	for i := range all {
		r := &all[i]
		on := !r.DisabledByDefault || slices.Contains(switches.Enabled, r.Name)
		if r.Name == "" || on && !slices.Contains(switches.Disabled, r.Name) {
			c.registrations = append(c.registrations, r)
		}
	}
	for _, r := range c.registrations {
		if slices.Contains(r.Resources, allResources) {
			c.forAll = append(c.forAll, r)
		}
		for _, name := range r.Resources {
			if name != allResources {
				c.byResource[keyOf(naming, name)] = nil
			}
		}
	}
	for _, r := range c.registrations {
		for key := range c.byResource {
			if slices.ContainsFunc(r.Resources, func(name string) bool { return name == allResources || keyOf(naming, name) == key }) {
				c.byResource[key] = append(c.byResource[key], r)
			}
		}
	}
	return c
}

// keyOf reads a resource of a Registration.
func keyOf(naming *meta.Naming, name string) resourceKey {
	parts := append(strings.SplitN(name, "/", 3), "")
	return resourceKey{meta.GroupResource{Group: naming.Translate(parts[0]), Resource: parts[1]}, parts[2]}
}

// of are the registrations for a resource.
func (c *Chain) of(k *schema.Kind, subresource string) []*Registration {
	if c == nil {
		return nil
	}
	if found, ok := c.byResource[resourceKey{k.Storage, subresource}]; ok {
		return found
	}
	return c.forAll
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

// Applies tells whether any plugin, waiting or not, may run for an operation by a user.
func (c *Chain) Applies(user *authn.User, k *schema.Kind, subresource string, operation request.Verb) bool {
	return slices.ContainsFunc(c.of(k, subresource), func(r *Registration) bool {
		return r.runsFor(user, operation) && (r.Plugin != nil || r.Waiting.Selects(k, subresource))
	})
}

// For is the admission of changes of an object by a user; nil if no plugin runs for them. It may take
// long: plugins that are Preparers ask what they have to know.
func (c *Chain) For(user *authn.User, k *schema.Kind, subresource string, key meta.Key) request.Admission {
	var a *pluginAdmission
	registrations := c.of(k, subresource)
	for _, r := range registrations {
		if r.Plugin == nil || !r.runsForUser(user) {
			continue
		}
		plugin := r.Plugin
		if p, ok := plugin.(Preparer); ok {
			plugin = p.Prepare(user, key)
		}
		if a == nil {
			a = &pluginAdmission{user: user, plugins: make([]boundPlugin, 0, len(registrations))}
		}
		a.plugins = append(a.plugins, boundPlugin{r, plugin})
	}
	if a == nil {
		return nil
	}
	return a
}

// Waiting is what changes of a resource by a user have to wait for; nil if for nothing.
func (c *Chain) Waiting(user *authn.User, k *schema.Kind, subresource string) request.WaitingAdmission {
	var a *waitingAdmission
	for _, r := range c.of(k, subresource) {
		if r.Waiting == nil || !r.runsForUser(user) || !r.Waiting.Selects(k, subresource) {
			continue
		}
		if a == nil {
			a = &waitingAdmission{user: user}
		}
		a.registrations = append(a.registrations, r)
	}
	if a == nil {
		return nil
	}
	return a
}
