package schema

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Kind is the compiled declaration of one served resource type. It is immutable after the catalog
// is built.
type Kind struct {
	meta.GroupVersionKind
	Resource   string // plural, as in URLs
	Names      Names
	Namespaced bool
	Verbs      []string // of the main resource; sorted, except for custom kinds
	// Storage names the collection that holds the objects. It differs from the served group and
	// resource if two groups share one storage.
	Storage meta.GroupResource
	// Stored is the storage version: the kind in whose form objects are stored. It is the kind
	// itself unless several versions or groups share a storage.
	Stored *Kind
	// Versions lists, for a storage version, all kinds that serve objects of the storage.
	Versions []*Kind
	// Deprecation is nil unless the version is deprecated.
	Deprecation *Deprecation
	// OffByDefault kinds are served only if the operator enables them.
	OffByDefault bool
	Writes       Writes
	NameFormat   NameFormat // the rule for metadata.name
	Subresources []Subresource
	Columns      []Column
	SelectFields []SelectField // beyond metadata.name and metadata.namespace
	// Declared is the structure of a built-in kind (see Message).
	Declared *Message
	// Origin describes the CustomResourceDefinition of a custom kind; nil for a built-in kind.
	Origin *Origin
	// Strategy is the behavior of the kind. SetStrategy also sets Preparer and Conversion.
	Strategy   Strategy
	Preparer   Preparer   // nil: objects are stored as clients send them
	Conversion Conversion // between the kind and Stored; nil if they are the same
}

// Names are the names of a kind in discovery, besides Kind and Resource.
type Names struct {
	Singular   string
	List       string // of lists; "": Kind followed by "List"
	Short      []string
	Categories []string
}

// Writes are the options of creates, updates and deletes.
type Writes struct {
	// CreateOnUpdate lets a PUT of an absent object create it.
	CreateOnUpdate bool
	// ConditionalUpdate requires a resourceVersion in a PUT.
	ConditionalUpdate bool
	// Generation makes metadata.generation count changes outside metadata and status.
	Generation bool
	Deletion   Deletion
	// DeleteReturnsObject makes a delete respond with the object instead of a Status.
	DeleteReturnsObject bool
}

// A Deletion is the way in which objects of a kind are deleted.
type Deletion uint8

// The ways to delete an object. Finalizers delay all of them.
const (
	DeleteAtOnce     Deletion = iota
	DeleteGracefully          // after a grace period
	DeleteInSteps             // always marked first (Strategy.BeginDelete), then removed by a controller
)

// Virtual reports whether objects of the kind are not stored. Every stored kind can be watched.
func (k *Kind) Virtual() bool { return !slices.Contains(k.Verbs, "watch") }

// A Deprecation records the API versions, as in "1.23", in which a version was deprecated and
// removed, and its replacement. Removed and Replacement may be empty. A Warning replaces the
// standard text.
type Deprecation struct{ Since, Removed, Replacement, Warning string }

// A SelectField is a field for field selectors. Path is its path in the stored form; if the value
// there is empty, the one at Fallback counts, the path of another SelectField ("" for none). A
// storage version's field without a Name serves selectors of other versions. The store keeps an
// index of Indexed fields.
type SelectField struct {
	Name, Path, Fallback string
	Indexed              bool
}

// A Subresource is an extra path segment below an object.
type Subresource struct {
	Name  string
	Kind  meta.GroupVersionKind // the kind of its body; zero means the parent's
	Verbs []string
	// BodyKind is the compiled Kind; nil means the parent's.
	BodyKind *Kind
	Scale    *Scale // for the subresource scale
	// Field is the only field besides metadata that a write changes; "" if it may change any.
	Field string
	// KeepsMetadata lists the metadata fields that a write cannot change; EveryField means all.
	KeepsMetadata []string
	// Connects marks a subresource that opens a connection, such as exec. It has no body; Kind,
	// if set, is that of the options in the query.
	Connects bool
	View     View
}

// EveryField stands for all fields in lists of field names.
const EveryField = "*"

// A Scale holds the dotted paths of the fields that the scale subresource shows. Selector is the
// path of a label selector or a plain map of labels; it may be empty.
type Scale struct{ Replicas, StatusReplicas, Selector string }

// A View defines how a subresource reads and writes its object. A subresource without Write is an
// operation that its handler implements.
type View struct {
	// Read returns the body for clients; nil: the object itself, or no body if the body is of
	// another kind. The result may share memory with the object.
	Read func(obj tree.Tree) tree.Tree
	// Write applies body to obj, a copy of the stored object. now is the time of the write in
	// tree form. It reports faults or returns a *meta.Status as the error.
	Write func(obj, body tree.Tree, now string, faults *Faults) error
	// Warn returns warnings about a write of the subresource; nil: there are none.
	Warn func(obj, old tree.Tree) []string
	// KeepsGeneration: a write does not increase metadata.generation.
	KeepsGeneration bool
	// KeepsOwners: a write does not change managed fields.
	KeepsOwners bool
}

// ItemOffset returns the length of `{"kind":"…","apiVersion":"…",`, the start of a stored object
// that list items omit. Items of custom kinds include it, so their offset is 1.
func (k *Kind) ItemOffset() int {
	if k.IsCustom() {
		return 1
	}
	n := len(`{"kind":"","apiVersion":"",`) + len(k.Kind) + len(k.Version)
	if k.Group != "" {
		n += len(k.Group) + len("/")
	}
	return n
}

// Subresource returns the subresource with that name, or nil.
func (k *Kind) Subresource(name string) *Subresource {
	for i := range k.Subresources {
		if k.Subresources[i].Name == name {
			return &k.Subresources[i]
		}
	}
	return nil
}

// A Column is one column of the Table representation.
type Column struct {
	Name, Type, Format, Description string
	Priority                        int32
	// Path is a dotted path into the object, as in "status.phase", or a function of the table
	// engine, as in "func:podStatus".
	Path string
}

// NameFormat is the rule for metadata.name.
type NameFormat uint8

// Name formats.
const (
	NameSubdomain   NameFormat = iota // DNS-1123 subdomain
	NameLabel                         // DNS-1123 label
	NameLabel1035                     // DNS-1035 label
	NamePathSegment                   // any text that can be one path segment
)
