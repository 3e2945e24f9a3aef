package schema

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Kind is the compiled declaration of a resource type. It is immutable once the catalog is built.
type Kind struct {
	meta.GroupVersionKind
	Resource   string // plural, as in URLs
	Names      Names
	Namespaced bool
	Verbs      []string // of the main resource; sorted, except for custom kinds
	// Storage names the collection of the objects, which several groups may share.
	Storage meta.GroupResource
	// Stored is the storage version, in whose form objects are stored. It is the kind itself
	// unless several kinds share a storage.
	Stored *Kind
	// Versions lists, for a storage version, all kinds of its storage.
	Versions []*Kind
	// Deprecation is nil unless the version is deprecated.
	Deprecation *Deprecation
	// OffByDefault kinds need to be enabled by the operator.
	OffByDefault bool
	Writes       Writes
	NameFormat   NameFormat
	Subresources []Subresource
	Columns      []Column
	SelectFields []SelectField // beyond metadata.name and metadata.namespace
	// Declared is the Message of a built-in kind.
	Declared *Message
	// Origin is nil for a built-in kind.
	Origin *Origin
	// SetStrategy sets Strategy, Preparer and Conversion.
	Strategy   Strategy
	Preparer   Preparer   // nil: objects are stored as clients send them
	Conversion Conversion // between the kind and Stored; nil if they are the same
}

// Names are further names of a kind in discovery.
type Names struct {
	Singular   string
	List       string // of lists; "": Kind followed by "List"
	Short      []string
	Categories []string
}

// Writes are the options of creates, updates and deletes.
type Writes struct {
	// CreateOnUpdate lets a PUT create an absent object.
	CreateOnUpdate bool
	// ConditionalUpdate requires a resourceVersion in a PUT.
	ConditionalUpdate bool
	// Generation counts changes outside metadata and status in metadata.generation.
	Generation bool
	Deletion   Deletion
	// DeleteReturnsObject returns the deleted object instead of a Status.
	DeleteReturnsObject bool
}

// A Deletion is the way in which objects are deleted. Finalizers delay all of them.
type Deletion uint8

// Deletions.
const (
	DeleteAtOnce     Deletion = iota
	DeleteGracefully          // after a grace period
	DeleteInSteps             // marked first (Strategy.BeginDelete), then removed by a controller
)

// Virtual reports whether objects of the kind are not stored. Every stored kind can be watched.
func (k *Kind) Virtual() bool { return !slices.Contains(k.Verbs, "watch") }

// A Deprecation holds API versions, as in "1.23", and a replacement; Removed and Replacement may be
// empty. A Warning replaces the standard text.
type Deprecation struct{ Since, Removed, Replacement, Warning string }

// A SelectField is a field for field selectors. Path is its path in the stored form; if the value
// is empty, that at Fallback counts, the Path of another SelectField ("" for none). Without a Name,
// it serves selectors of other versions. The store indexes Indexed fields.
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
	// Field is the only field besides metadata that a write may change; "" for any.
	Field string
	// KeepsMetadata lists metadata fields that a write cannot change.
	KeepsMetadata []string
	// Connects marks a subresource that opens a connection, such as exec. It has no body; Kind,
	// if set, is that of the query options.
	Connects bool
	View     View
}

// EveryField stands for all fields in lists of field names.
const EveryField = "*"

// A Scale holds the dotted paths of the fields that the scale subresource shows. Selector is a
// label selector or a map of labels; it may be empty.
type Scale struct{ Replicas, StatusReplicas, Selector string }

// A View defines how a subresource reads and writes its object. Without Write, it is an operation
// that its handler implements.
type View struct {
	// Read returns the body, which may share memory with the object; nil: the object itself, or
	// no body if that is of another kind.
	Read func(obj tree.Tree) tree.Tree
	// Write applies body to obj, a copy, at the time now in tree form. The error is a
	// *meta.Status.
	Write func(obj, body tree.Tree, now string, faults *Faults) error
	// KeepsGeneration: a write does not increase metadata.generation.
	KeepsGeneration bool
	// KeepsOwners: a write does not change managed fields.
	KeepsOwners bool
}

// ItemOffset returns the length of `{"kind":"…","apiVersion":"…",`, the start of stored objects
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
