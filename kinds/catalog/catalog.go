package catalog

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Catalog contains all served kinds: built-in kinds, and custom kinds added at run time
// (AddDefinition). Its methods are safe for concurrent use, and their results are immutable.
type Catalog struct {
	*builtIns
	builtIn        kindSet // with the served subset of this catalog
	compiler       *crd.Compiler
	definitionKind *schema.Kind

	current     atomic.Pointer[snapshot]
	mu          sync.Mutex                            // guards the fields below and writes of current
	definitions map[string]map[string]*crd.Definition // by group and name
	changed     chan struct{}                         // closed by the next change
}

// A Group is an API group with its versions, the preferred one first.
type Group struct {
	Name     string // "" is the core group
	Versions []string
}

// New returns a naming profile's catalog with the built-in kinds that are enabled by default.
func New(n *meta.Naming) (*Catalog, error) { return NewWithConfig(n, nil, nil) }

// Features reports whether a feature gate is enabled. A nil Features enables only the gates of
// kinds.
type Features func(gate string) bool

func (f Features) serves(k *schema.Kind) bool { return f == nil || k.Feature == "" || f(k.Feature) }

func (f Features) enabled(gate string) bool { return f != nil && f(gate) }

// NewWithConfig is like New, but r and f enable or disable kinds. It returns an error if a key of r
// matches no kind.
func NewWithConfig(n *meta.Naming, r RuntimeConfig, f Features) (*Catalog, error) {
	b, err := builtInsFor(n, f)
	if err != nil {
		return nil, err
	}
	served, err := b.served(r, f)
	if err != nil {
		return nil, err
	}
	c := &Catalog{
		builtIns: b, builtIn: served,
		compiler:       b.newDefinitionCompiler(),
		definitionKind: served.byKind[meta.GroupVersionKind{Group: n.Group("apiextensions"), Version: "v1", Kind: "CustomResourceDefinition"}],
		definitions:    map[string]map[string]*crd.Definition{}, changed: make(chan struct{}),
	}
	c.current.Store(newSnapshot(0, &c.builtIn, nil))
	return c, nil
}

// Kind returns the kind of a resource, or nil if it is not served.
func (c *Catalog) Kind(group, version, name string) *schema.Kind {
	return c.current.Load().byResource(resourceKey{group, version, name})
}

// Serves reports whether k is served. --runtime-config or the CRD may disable k.
func (c *Catalog) Serves(k *schema.Kind) bool { return c.Kind(k.Group, k.Version, k.Resource) != nil }

// ByGVK returns the kind with a GroupVersionKind, whether served or not, or nil if there is none.
func (c *Catalog) ByGVK(gvk meta.GroupVersionKind) *schema.Kind {
	return c.current.Load().byKind(gvk)
}

// Kinds returns all served kinds, sorted by group, version and resource. Callers must not change
// the slice.
func (c *Catalog) Kinds() []*schema.Kind { return c.current.Load().lists().kinds }

// Message returns the message with the given full name, such as "meta.v1.ListMeta", or nil.
func (c *Catalog) Message(name string) *schema.Message { return c.message(name).Message() }

// Expressions returns the compiler of admission expressions. Validation and policy share it.
func (c *Catalog) Expressions() *expressions.Compiler { return c.expressions }

// Naming returns the catalog's naming profile.
func (c *Catalog) Naming() *meta.Naming { return c.naming }

// Groups returns the groups sorted by name, the core group first.
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

// StorageKinds returns the storage version of each stored resource, including custom resources,
// sorted by group and resource. Callers must not change the slice.
func (c *Catalog) StorageKinds() []*schema.Kind { return c.current.Load().lists().storage }
