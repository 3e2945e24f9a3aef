package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/proto"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Catalog knows every kind that is served.
type Catalog struct {
	naming     *meta.Naming
	kinds      []*schema.Kind
	byKind     map[meta.GroupVersionKind]*schema.Kind
	byResource map[resource]*schema.Kind
	messages   map[string]*schema.Message
}

type resource struct{ group, version, name string }

// A Group is an API group with its versions, the preferred one first.
type Group struct {
	Name     string // "" is the core group
	Versions []string
}

// New compiles the built-in kinds under the names of a profile.
func New(n *meta.Naming) (*Catalog, error) {
	plan, err := schema.Compile(proto.Descriptors, n)
	if err != nil {
		return nil, err
	}
	c := &Catalog{
		naming:     n,
		kinds:      plan.Kinds,
		byKind:     make(map[meta.GroupVersionKind]*schema.Kind, len(plan.Kinds)),
		byResource: make(map[resource]*schema.Kind, len(plan.Kinds)),
		messages:   plan.Messages,
	}
	slices.SortStableFunc(c.kinds, byPlace)
	for _, k := range c.kinds {
		r := resource{k.Group, k.Version, k.Resource}
		if c.byKind[k.GroupVersionKind] != nil || c.byResource[r] != nil {
			return nil, fmt.Errorf("catalog: %s %s is declared twice", k.APIVersion(), k.Kind)
		}
		c.byKind[k.GroupVersionKind], c.byResource[r] = k, k
	}
	return c, c.attach(rulesOf(n))
}

// attach gives kinds their functions; a rule for no kind is a mistake.
func (c *Catalog) attach(rules map[string]schema.Rules) error {
	found := 0
	for key, r := range rules {
		group, kind, _ := strings.Cut(key, "/")
		group, matched := c.naming.Name(group), false
		for _, k := range c.kinds {
			if k.Group == group && k.Kind == kind {
				k.Rules, matched = r, true
			}
		}
		if matched {
			found++
		}
	}
	if found != len(rules) {
		return fmt.Errorf("catalog: of %d rules only %d belong to a kind", len(rules), found)
	}
	return nil
}

// byPlace orders kinds by group, version (preferred first) and resource.
func byPlace(a, b *schema.Kind) int {
	return cmp.Or(
		strings.Compare(a.Group, b.Group),
		CompareVersions(a.Version, b.Version),
		strings.Compare(a.Resource, b.Resource),
	)
}

// Kind finds a kind by the parts of its URL; nil if there is none.
func (c *Catalog) Kind(group, version, name string) *schema.Kind {
	return c.byResource[resource{group, version, name}]
}

// ByGVK finds a kind by what objects call themselves; nil if there is none.
func (c *Catalog) ByGVK(gvk meta.GroupVersionKind) *schema.Kind { return c.byKind[gvk] }

// Kinds lists every kind by group, version and resource. The caller may not change it.
func (c *Catalog) Kinds() []*schema.Kind { return c.kinds }

// Message finds a message by its full name, such as "meta.v1.ListMeta"; nil if there is none.
func (c *Catalog) Message(name string) *schema.Message { return c.messages[name] }

// Naming is the profile that the catalogue was compiled for.
func (c *Catalog) Naming() *meta.Naming { return c.naming }

// Groups lists the groups by name, the core group first.
func (c *Catalog) Groups() []Group {
	var groups []Group
	for _, k := range c.kinds {
		if len(groups) == 0 || groups[len(groups)-1].Name != k.Group {
			groups = append(groups, Group{Name: k.Group})
		}
		g := &groups[len(groups)-1]
		if !slices.Contains(g.Versions, k.Version) {
			g.Versions = append(g.Versions, k.Version)
		}
	}
	return groups
}

// Storages lists the collections of objects in order, each once.
func (c *Catalog) Storages() []meta.GroupResource {
	var all []meta.GroupResource
	for _, k := range c.kinds {
		if !slices.Contains(all, k.Storage) {
			all = append(all, k.Storage)
		}
	}
	slices.SortFunc(all, func(a, b meta.GroupResource) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource))
	})
	return all
}
