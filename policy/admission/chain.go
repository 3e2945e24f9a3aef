package admission

import (
	"context"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
)

// A Registration makes a plugin known to a Chain.
type Registration struct {
	// Name is one of Names, by which the plugin is switched on and off; "" for one that always runs.
	Name string
	// Resources are those that the plugin runs for, as "group/resource" or "group/resource/subresource" in
	// platform form; "/pods" is of the core group. "*" means all, including subresources.
	Resources []string
	// Users reports whether the plugin runs for changes by a user; nil means for all.
	Users func(*request.User) bool
	// Namespaces reports whether the plugin may handle changes in a namespace; nil means in all. It is
	// cheap. "" stands for no namespace, or several.
	Namespaces func(namespace string) bool
	// Selects reports whether the plugin may handle any change of a resource; nil means yes.
	Selects func(k *schema.Kind, subresource string) bool
	// Provision makes what a new object needs, such as its namespace, before the mutation begins.
	Provision func(ctx context.Context, k *schema.Kind, key meta.Key) error
	// Caches are what the plugin reads of the cluster. They are kept while it runs.
	Caches []policy.Follower

	request.Plugin
}

// allResources is a Registration's name of every resource.
const allResources = "*"

// mayHandle reports whether the plugin may handle any change by a user of a resource in a namespace.
func (r *Registration) mayHandle(user *request.User, k *schema.Kind, subresource, namespace string) bool {
	return (r.Users == nil || r.Users(user)) && (r.Namespaces == nil || r.Namespaces(namespace)) && (r.Selects == nil || r.Selects(k, subresource))
}

// A Chain is the plugins of a server, in the order of the table in names.go. The nil Chain has none.
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

// New makes a Chain of the registrations that the switches leave on. Those without a name come first.
func New(naming *meta.Naming, switches PluginConfig, all []Registration) *Chain {
	c := &Chain{byResource: map[resourceKey][]*Registration{}}
	for i := range all {
		if switches.Runs(all[i].Name) {
			c.registrations = append(c.registrations, &all[i])
		}
	}
	slices.SortStableFunc(c.registrations, func(a, b *Registration) int { return position(a.Name) - position(b.Name) })
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

// Caches are what the plugins read of the cluster, each once.
func (c *Chain) Caches() []policy.Follower {
	var all []policy.Follower
	for _, r := range c.registrations {
		for _, f := range r.Caches {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// AppliesToNoOp reports whether any plugin may handle an update by a user that changes nothing.
func (c *Chain) AppliesToNoOp(user *request.User, k *schema.Kind, subresource, namespace string) bool {
	return slices.ContainsFunc(c.of(k, subresource), func(r *Registration) bool {
		return !r.SkipsNoOps && r.RunsFor(request.OnUpdate) && r.mayHandle(user, k, subresource, namespace)
	})
}

// For returns the admission of a user's changes of a resource; nil if no plugin may handle them.
func (c *Chain) For(user *request.User, k *schema.Kind, subresource, namespace string) *request.Admission {
	var a *request.Admission
	registrations := c.of(k, subresource)
	for _, r := range registrations {
		if !r.mayHandle(user, k, subresource, namespace) {
			continue
		}
		if a == nil {
			a = &request.Admission{User: user, Plugins: make([]*request.Plugin, 0, len(registrations))}
		}
		a.Plugins = append(a.Plugins, &r.Plugin)
	}
	return a
}

// Provision makes what a mutation needs, if it may create an object and is no dry run.
func (c *Chain) Provision(ctx context.Context, m *request.Mutation) error {
	if c == nil || m.DryRun || !request.Is[request.Create](m) && !request.Is[request.Apply](m) {
		return nil
	}
	for _, r := range c.registrations {
		if r.Provision == nil {
			continue
		}
		if err := r.Provision(ctx, m.Kind, m.Key); err != nil {
			return err
		}
	}
	return nil
}
