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

// A Catalog knows every kind that is served: the built-in ones, and those that definitions
// make while the server runs (Define). All of its methods may be called by many at once; what
// they return stays as it is.
type Catalog struct {
	naming   *meta.Naming
	messages map[string]*schema.Message
	compiler *custom.Compiler
	builtIn  snapshot // the built-in kinds

	current     atomic.Pointer[snapshot]
	mu          sync.Mutex                    // guards what follows, and changes of current
	definitions map[string]*custom.Definition // by name
	firstKinds  map[resource]*schema.Kind     // that definitions ever made
	changed     chan struct{}                 // closed by the next change
}

// An edition is the content of a catalogue between two changes.
type snapshot struct {
	generation uint64
	all        []*schema.Kind // that have a path, in order, also those that are switched off
	kinds      []*schema.Kind // of all, what is served
	byKind     map[meta.GroupVersionKind]*schema.Kind
	byResource map[resource]*schema.Kind
}

type resource struct{ group, version, name string }

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
		definitions: map[string]*custom.Definition{}, firstKinds: map[resource]*schema.Kind{}, changed: make(chan struct{}),
		builtIn: snapshot{
			byKind:     make(map[meta.GroupVersionKind]*schema.Kind, len(plan.Kinds)),
			byResource: make(map[resource]*schema.Kind, len(plan.Kinds)),
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
			delete(e.byResource, resource{k.Group, k.Version, k.Resource})
		}
	}
	c.current.Store(e)
	return c, c.attachFunctions()
}

// add registers a kind by what it is called and, if it has a path, by that.
func (e *snapshot) add(k *schema.Kind) error {
	if e.byKind[k.GroupVersionKind] != nil {
		return fmt.Errorf("catalog: %s %s is declared twice", k.APIVersion(), k.Kind)
	}
	e.byKind[k.GroupVersionKind] = k
	if k.Resource == "" {
		return nil
	}
	r := resource{k.Group, k.Version, k.Resource}
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

// Kind finds a served kind by the parts of its URL; nil if there is none.
func (c *Catalog) Kind(group, version, name string) *schema.Kind {
	return c.current.Load().byResource[resource{group, version, name}]
}

// ByGVK finds a kind by what objects call themselves; nil if there is none.
func (c *Catalog) ByGVK(gvk meta.GroupVersionKind) *schema.Kind {
	return c.current.Load().byKind[gvk]
}

// Kinds lists every kind that is served, by group, version and resource. The caller may
// not change it.
func (c *Catalog) Kinds() []*schema.Kind { return c.current.Load().kinds }

// Message finds a message by its full name, such as "meta.v1.ListMeta"; nil if there is none.
func (c *Catalog) Message(name string) *schema.Message { return c.messages[name] }

// Naming is the profile that the catalogue was compiled for.
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

// StorageKinds lists the kinds in whose form objects have at rest, one for each storage, in the
// order of the storages. Custom kinds are among them as long as they are defined.
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
