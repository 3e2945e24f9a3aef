package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/custom"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/proto"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Catalog knows every kind that is served: the built-in ones, and those of definitions that are
// added while the server runs (AddDefinition). All methods are safe for concurrent use, and what
// they return never changes.
type Catalog struct {
	naming   *meta.Naming
	messages map[string]*schema.Message
	compiler *custom.Compiler
	builtIn  snapshot // the built-in kinds

	current     atomic.Pointer[snapshot]
	mu          sync.Mutex                    // guards the fields below, and writes of current
	definitions map[string]*custom.Definition // by name
	firstKinds  map[resourceKey]*schema.Kind  // the first kind that any definition made for a resource
	changed     chan struct{}                 // closed by the next change
}

// A snapshot is the content of a catalog between two changes.
type snapshot struct {
	generation uint64
	all        []*schema.Kind // every kind with a path, sorted, including those switched off
	kinds      []*schema.Kind // those of all that are served
	byKind     map[meta.GroupVersionKind]*schema.Kind
	byResource map[resourceKey]*schema.Kind
}

type resourceKey struct{ group, version, name string }

// A Group is an API group with its versions, the preferred one first.
type Group struct {
	Name     string // "" is the core group
	Versions []string
}

// New compiles the built-in kinds under the names of a profile, and serves all of them.
func New(n *meta.Naming) (*Catalog, error) { return NewWithConfig(n, nil) }

// NewWithConfig is New with some of the kinds switched off. A key that concerns no kind is an error.
func NewWithConfig(n *meta.Naming, r RuntimeConfig) (*Catalog, error) {
	plan, err := schema.Compile(proto.Descriptors, n)
	if err != nil {
		return nil, err
	}
	if err := rules.Compile(slices.Collect(maps.Values(plan.Messages))...); err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	c := &Catalog{
		naming: n, messages: plan.Messages, compiler: custom.NewCompiler(n, plan.Messages["meta.v1.ObjectMeta"]),
		definitions: map[string]*custom.Definition{}, firstKinds: map[resourceKey]*schema.Kind{}, changed: make(chan struct{}),
		builtIn: snapshot{
			byKind:     make(map[meta.GroupVersionKind]*schema.Kind, len(plan.Kinds)),
			byResource: make(map[resourceKey]*schema.Kind, len(plan.Kinds)),
		},
	}
	e := &c.builtIn
	for _, k := range plan.Kinds {
		if err := e.add(k); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(e.all, compareKinds)
	if err := r.check(e.all); err != nil {
		return nil, err
	}
	for _, k := range e.all {
		if r.enabled(k) {
			e.kinds = append(e.kinds, k)
		} else {
			delete(e.byResource, resourceKey{k.Group, k.Version, k.Resource})
		}
	}
	c.current.Store(e)
	return c, c.attachFunctions(c.kindsWithFunctions())
}

// add registers a kind under its group, version and kind name, and under its path if it has one.
func (e *snapshot) add(k *schema.Kind) error {
	if e.byKind[k.GroupVersionKind] != nil {
		return fmt.Errorf("catalog: %s %s is declared twice", k.APIVersion(), k.Kind)
	}
	e.byKind[k.GroupVersionKind] = k
	if k.Resource == "" {
		return nil
	}
	r := resourceKey{k.Group, k.Version, k.Resource}
	if e.byResource[r] != nil {
		return fmt.Errorf("catalog: %s %s is declared twice", k.APIVersion(), k.Resource)
	}
	e.byResource[r] = k
	e.all = append(e.all, k)
	return nil
}

// compareKinds orders kinds by group, version (preferred first) and resource.
func compareKinds(a, b *schema.Kind) int {
	return cmp.Or(
		strings.Compare(a.Group, b.Group),
		meta.CompareVersions(a.Version, b.Version),
		strings.Compare(a.Resource, b.Resource),
	)
}

// Kind returns the served kind of a resource in a group and version; nil if there is none.
func (c *Catalog) Kind(group, version, name string) *schema.Kind {
	return c.current.Load().byResource[resourceKey{group, version, name}]
}

// ByGVK returns the kind of a group, version and kind name, served or not; nil if there is none.
func (c *Catalog) ByGVK(gvk meta.GroupVersionKind) *schema.Kind {
	return c.current.Load().byKind[gvk]
}

// Kinds lists every kind that is served, by group, version and resource. The caller may
// not change it.
func (c *Catalog) Kinds() []*schema.Kind { return c.current.Load().kinds }

// Message finds a message by its full name, such as "meta.v1.ListMeta"; nil if there is none.
func (c *Catalog) Message(name string) *schema.Message { return c.messages[name] }

// Naming returns the profile that the catalog was compiled for.
func (c *Catalog) Naming() *meta.Naming { return c.naming }

// Groups lists the groups by name, the core group first.
func (c *Catalog) Groups() []Group {
	var groups []Group
	for _, k := range c.Kinds() {
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

// StorageKinds lists the kinds in whose version objects are stored, one per stored resource, sorted
// by group and resource. Custom kinds are included while they are defined.
func (c *Catalog) StorageKinds() []*schema.Kind {
	var all []*schema.Kind
	for _, k := range c.current.Load().all {
		if k.Stored == k && !k.Virtual() {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b *schema.Kind) int {
		return cmp.Or(strings.Compare(a.Storage.Group, b.Storage.Group), strings.Compare(a.Storage.Resource, b.Storage.Resource))
	})
	return all
}
