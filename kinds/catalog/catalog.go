package catalog

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/custom"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Catalog knows every kind that is served: the built-in ones, and those of definitions that are
// added while the server runs (AddDefinition). All methods are safe for concurrent use, and what
// they return never changes.
type Catalog struct {
	*builtIns
	builtIn  kindSet // as they are served here
	compiler *custom.Compiler
	// definitionKind is the kind of the objects that define custom kinds.
	definitionKind *schema.Kind

	current     atomic.Pointer[snapshot]
	mu          sync.Mutex                               // guards the fields below, and writes of current
	definitions map[string]map[string]*custom.Definition // by group and name
	changed     chan struct{}                            // closed by the next change
}

// A Group is an API group with its versions, the preferred one first.
type Group struct {
	Name     string // "" is the core group
	Versions []string
}

// New compiles the built-in kinds under the names of a profile, and serves all of them that are not off by default.
func New(n *meta.Naming) (*Catalog, error) { return NewWithConfig(n, nil, Features{}) }

// Features are what kinds allow only where it is asked for.
type Features struct {
	// ScaleToZero lets a HorizontalPodAutoscaler with a metric that is not about Pods scale to none.
	ScaleToZero bool
	// ClusterTrustBundle lets ClusterTrustBundles be served where a RuntimeConfig switches them on.
	ClusterTrustBundle bool
	// StorageVersionMigrator does the same for StorageVersionMigrations.
	StorageVersionMigrator bool
	// Fields tells whether a feature is on that fields of kinds belong to; nil: none is.
	Fields func(feature string) bool
}

// serves reports whether the features let a built-in kind be served.
func (f Features) serves(k *schema.Kind) bool {
	switch k.Kind {
	case "ClusterTrustBundle":
		return f.ClusterTrustBundle
	case "StorageVersionMigration":
		return f.StorageVersionMigrator
	}
	return true
}

// NewWithConfig is New with some of the kinds switched off or on. A key that concerns no kind is an error.
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
		definitions:    map[string]map[string]*custom.Definition{}, changed: make(chan struct{}),
	}
	c.current.Store(newSnapshot(0, &c.builtIn, nil))
	return c, nil
}

// Kind returns the served kind of a resource in a group and version; nil if there is none.
func (c *Catalog) Kind(group, version, name string) *schema.Kind {
	return c.current.Load().byResource(resourceKey{group, version, name})
}

// Serves reports whether clients can use k: neither --runtime-config nor its
// CustomResourceDefinition switches it off.
func (c *Catalog) Serves(k *schema.Kind) bool { return c.Kind(k.Group, k.Version, k.Resource) != nil }

// ByGVK returns the kind of a group, version and kind name, served or not; nil if there is none.
func (c *Catalog) ByGVK(gvk meta.GroupVersionKind) *schema.Kind {
	return c.current.Load().byKind(gvk)
}

// Kinds lists every kind that is served, by group, version and resource. The caller may
// not change it.
func (c *Catalog) Kinds() []*schema.Kind { return c.current.Load().lists().kinds }

// Message finds a message by its full name, such as "meta.v1.ListMeta"; nil if there is none.
func (c *Catalog) Message(name string) *schema.Message { return c.message(name) }

// Expressions is the compiler of the expressions of admission, which validation and policy share.
func (c *Catalog) Expressions() *expressions.Compiler { return c.expressions }

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
//
// The caller may not change the list.
func (c *Catalog) StorageKinds() []*schema.Kind { return c.current.Load().lists().storage }
