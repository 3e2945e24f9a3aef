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

// A Registration registers a plugin with a Chain.
type Registration struct {
	// Name is the plugin's configured name, one of Names. A plugin without a name always runs.
	Name string
	// Resources lists "group/resource" or "group/resource/subresource" in the platform naming
	// profile. "/pods" is in the core group. "*" means all resources and subresources.
	Resources []string
	// Users reports whether the plugin runs for a user's changes. nil means all users.
	Users func(*request.User) bool
	// Namespaces reports whether the plugin may handle changes in a namespace. It must be cheap.
	// nil means all namespaces. The argument is "" for cluster-scoped and multi-namespace requests.
	Namespaces func(namespace string) bool
	// Selects reports whether the plugin may handle changes to a resource. nil means all resources.
	Selects func(k *schema.Kind, subresource string) bool
	// Provision creates prerequisites of a new object, such as its namespace, before the mutation
	// starts.
	Provision func(ctx context.Context, k *schema.Kind, key meta.Key) error
	// Caches lists the caches that the plugin reads. They are kept up to date while the plugin is
	// enabled.
	Caches []policy.Follower

	request.Plugin
}

const allResources = "*"

func (r *Registration) mayHandle(user *request.User, k *schema.Kind, subresource, namespace string) bool {
	return (r.Users == nil || r.Users(user)) && (r.Namespaces == nil || r.Namespaces(namespace)) && (r.Selects == nil || r.Selects(k, subresource))
}

// A Chain holds the enabled plugins in the order of plugins.yaml. The nil Chain is empty.
type Chain struct {
	registrations []*Registration
	byResource    map[resourceKey][]*Registration
	forAll        []*Registration // plugins for all resources; also listed in byResource
}

type resourceKey struct {
	meta.GroupResource
	sub string
}

// New returns a Chain of the registrations enabled by switches. Unnamed plugins come first.
func New(naming *meta.Naming, switches PluginConfig, all []Registration) *Chain {
	c := &Chain{byResource: map[resourceKey][]*Registration{}}
	for i := range all {
		if switches.Runs(all[i].Name) {
			c.registrations = append(c.registrations, &all[i])
		}
	}
	slices.SortStableFunc(c.registrations, func(a, b *Registration) int { return position(a.Name) - position(b.Name) })
	handles := make([]map[resourceKey]bool, len(c.registrations)) // nil: all resources
	for i, r := range c.registrations {
		if slices.Contains(r.Resources, allResources) {
			c.forAll = append(c.forAll, r)
		} else {
			handles[i] = map[resourceKey]bool{}
		}
		for _, name := range r.Resources {
			if name != allResources {
				key := keyOf(naming, name)
				c.byResource[key] = nil
				if handles[i] != nil {
					handles[i][key] = true
				}
			}
		}
	}
	for i, r := range c.registrations {
		for key := range c.byResource {
			if handles[i] == nil || handles[i][key] {
				c.byResource[key] = append(c.byResource[key], r)
			}
		}
	}
	return c
}

func keyOf(naming *meta.Naming, name string) resourceKey {
	parts := append(strings.SplitN(name, "/", 3), "")
	return resourceKey{meta.GroupResource{Group: naming.Translate(parts[0]), Resource: parts[1]}, parts[2]}
}

func (c *Chain) of(k *schema.Kind, subresource string) []*Registration {
	if c == nil {
		return nil
	}
	if found, ok := c.byResource[resourceKey{k.Storage, subresource}]; ok {
		return found
	}
	return c.forAll
}

// Caches returns the caches of all plugins, without duplicates.
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

// AppliesToNoOp reports whether any plugin may handle a user's update that changes nothing.
func (c *Chain) AppliesToNoOp(user *request.User, k *schema.Kind, subresource, namespace string) bool {
	return slices.ContainsFunc(c.of(k, subresource), func(r *Registration) bool {
		return !r.SkipsNoOps && r.RunsFor(request.OnUpdate) && r.mayHandle(user, k, subresource, namespace)
	})
}

// For returns the plugins that may handle a user's changes to a resource, or nil if there are none.
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

// Provision creates an object's prerequisites before a create or apply. It skips dry runs.
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
