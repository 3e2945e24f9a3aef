package admission

import (
	"context"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
)

// A Registration makes a plugin known.
type Registration struct {
	// Name is one of Names, by which the plugin is switched on and off; "" for one that always runs.
	Name string
	// Resources it runs for, as "group/resource" or "group/resource/sub-resource" in platform form,
	// "/pods" being of the core group. "*" is for all, sub-resources too.
	Resources []string
	// Operations it runs for, of Create, Update and Delete; none means all.
	Operations []request.Verb
	// Users tells for whose changes it runs; nil means all.
	Users func(*authn.User) bool
	// Namespaces tells in which namespaces it has anything to do; nil means all. It is cheap. "" is asked for
	// what is in none, or in several.
	Namespaces func(namespace string) bool
	// SkipsNoOps: an update that changes nothing is not its concern, because the object was admitted when it was
	// stored. Then a repeated apply costs nothing.
	SkipsNoOps bool

	// Plugin and Waiting are what runs; one of them is set, or both.
	Plugin  Plugin
	Waiting WaitingPlugin
	// Caches are what the plugin reads of the cluster. They are kept while it runs.
	Caches []policy.Follower
}

// allResources is a Registration's name of every resource.
const allResources = "*"

// runsFor tells whether the plugin runs for an operation by a user.
func (r *Registration) runsFor(user *authn.User, operation request.Verb) bool {
	return r.runsForUser(user) && (len(r.Operations) == 0 || slices.Contains(r.Operations, operation))
}

// selects tells whether the Plugin may have anything to do for changes of a resource.
func (r *Registration) selects(k *schema.Kind, subresource string) bool {
	if s, ok := r.Plugin.(Selector); ok {
		return s.Selects(k, subresource)
	}
	return r.Plugin != nil
}

func (r *Registration) runsForUser(user *authn.User) bool { return r.Users == nil || r.Users(user) }

func (r *Registration) runsIn(namespace string) bool {
	return r.Namespaces == nil || r.Namespaces(namespace)
}

// A Chain asks its plugins in the order of Names' table. The nil Chain has none.
type Chain struct {
	registrations []*Registration
	byResource    map[resourceKey][]*Registration
	forAll        []*Registration // which are also in the lists of byResource
	provisioners  []Provisioner
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
			c.register(&all[i])
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

func (c *Chain) register(r *Registration) {
	c.registrations = append(c.registrations, r)
	if p, ok := r.Plugin.(Provisioner); ok {
		c.provisioners = append(c.provisioners, p)
	}
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

// AppliesToNoOp tells whether any plugin, waiting or not, may run for an update by a user that changes nothing.
func (c *Chain) AppliesToNoOp(user *authn.User, k *schema.Kind, subresource, namespace string) bool {
	return slices.ContainsFunc(c.of(k, subresource), func(r *Registration) bool {
		return r.runsForNoOp(user) && r.runsIn(namespace) && (r.selects(k, subresource) || r.Waiting != nil && r.Waiting.Selects(k, subresource))
	})
}

func (r *Registration) runsForNoOp(user *authn.User) bool {
	return !r.SkipsNoOps && r.runsFor(user, request.Update)
}

// For is the admission of a request of a user to change an object; nil if no plugin runs for it. It may
// take long: plugins that are Preparers ask what they have to know.
func (c *Chain) For(user *authn.User, verb request.Verb, k *schema.Kind, subresource string, key meta.Key) request.Admission {
	var a *pluginAdmission
	registrations := c.of(k, subresource)
	for _, r := range registrations {
		if !r.runsForUser(user) || !r.runsIn(key.Namespace) || !r.selects(k, subresource) {
			continue
		}
		plugin := r.Plugin
		if p, ok := plugin.(Preparer); ok {
			plugin = p.Prepare(user, verb, key)
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

// Provision lets the plugins that are Provisioners make what a mutation needs, if it may make an object and is
// no dry run.
func (c *Chain) Provision(ctx context.Context, m *request.Mutation) error {
	creates := m.Verb == request.Create || m.Verb == request.Patch && m.PatchType == request.ApplyPatch
	if c == nil || m.DryRun || !creates {
		return nil
	}
	for _, p := range c.provisioners {
		if err := p.Provision(ctx, m.Kind, m.Key); err != nil {
			return err
		}
	}
	return nil
}

// Waiting is what changes of a resource by a user have to wait for; nil if for nothing.
func (c *Chain) Waiting(user *authn.User, k *schema.Kind, subresource, namespace string) request.WaitingAdmission {
	var a *waitingAdmission
	for _, r := range c.of(k, subresource) {
		if r.Waiting == nil || !r.runsForUser(user) || !r.runsIn(namespace) || !r.Waiting.Selects(k, subresource) {
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
