package schema

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Kind is one served resource type: what its declaration says, compiled.
// It is immutable after the catalogue is built.
type Kind struct {
	meta.GroupVersionKind
	Resource   string // plural, as in URLs
	Names      Names
	Namespaced bool
	Verbs      []string // of the main resource; sorted, except for custom kinds
	// Storage names the collection that holds the objects. It differs from the served
	// group and resource where two groups share one storage.
	Storage meta.GroupResource
	// Stored is the storage version: the kind in whose form objects are stored. It is the kind itself, unless
	// several versions or groups share a storage.
	Stored *Kind
	// Versions lists, for a storage version, all kinds that serve the objects of its storage.
	Versions []*Kind
	// Deprecation is nil for a version that is not deprecated.
	Deprecation *Deprecation
	// OffByDefault: the kind is served only if the operator asks for it.
	OffByDefault bool
	Writes       Writes
	NameFormat   NameFormat // the rule for metadata.name
	Subresources []Subresource
	Columns      []Column
	SelectFields []SelectField // beyond metadata.name and metadata.namespace
	// Declared is the structure of the objects of a built-in kind (Message).
	Declared *Message
	// Origin describes the CustomResourceDefinition of a custom kind; nil for a built-in kind.
	Origin *Origin
	// Strategy is the behavior of the kind. SetStrategy also sets Preparer and Conversion.
	Strategy   Strategy
	Preparer   Preparer   // nil: objects are stored as clients send them
	Conversion Conversion // between the kind and Stored; nil if they are the same
}

// Names are the names of a kind in discovery beside Kind and Resource.
type Names struct {
	Singular   string
	List       string // of lists; "" for the name of the kind with "List" appended
	Short      []string
	Categories []string
}

// Writes are the options of creates, updates and deletes.
type Writes struct {
	// CreateOnUpdate: PUT of an absent object creates it.
	CreateOnUpdate bool
	// ConditionalUpdate: PUT has to name the resourceVersion that it replaces.
	ConditionalUpdate bool
	// Generation: metadata.generation counts changes of anything but metadata and status.
	Generation bool
	Deletion   Deletion
	// DeleteReturnsObject: delete answers the object instead of a Status.
	DeleteReturnsObject bool
}

// A Deletion is the way in which objects of a kind go.
type Deletion uint8

// The ways to delete an object. Finalizers delay all of them.
const (
	DeleteAtOnce     Deletion = iota
	DeleteGracefully          // after a grace period
	DeleteInSteps             // marked first in any case (Strategy.BeginDelete), and removed by a controller
)

// Virtual tells a kind of which nothing is stored: a create or a read is answered, and that is all. What is stored can be watched.
func (k *Kind) Virtual() bool { return !slices.Contains(k.Verbs, "watch") }

// A Deprecation says since when a version should not be used, and what to use; versions
// are those of the API, as in "1.23". Removed and Replacement may be empty.
// Warning, if set, is what users are told instead.
type Deprecation struct{ Since, Removed, Replacement, Warning string }

// A SelectField is a field that field selectors may name. Path leads to it in the stored form. If
// that field is empty, the one at Fallback counts, the path of another SelectField; "" for none.
// One of a storage version that has no Name serves selectors of other versions. The store keeps an
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
	// BodyKind is Kind in the catalogue; nil means the parent's.
	BodyKind *Kind
	Scale    *Scale // for the sub-resource scale
	// Field is the one field of the object, beside metadata, that a write reaches; "" if it may
	// reach any.
	Field string
	// KeepsMetadata are the fields of metadata that a write leaves as they are; EveryField
	// stands for all.
	KeepsMetadata []string
	// Connects: a request opens a connection to what the object stands for. Its body has no kind; Kind, if set, is
	// that of its options, which the query holds.
	Connects bool
	View     View
}

// EveryField stands for all fields where names of fields are listed.
const EveryField = "*"

// A Scale says where an object keeps what its scale shows, as dotted paths. Selector is the
// path of a label selector or of a plain map of labels; it may be empty.
type Scale struct{ Replicas, StatusReplicas, Selector string }

// A View is how a sub-resource reads and writes its object. A sub-resource without Write
// is an operation: whoever serves it decides what it does.
type View struct {
	// Read makes the body that clients get from the object; nil: the object itself, or nothing
	// where the body is of another kind. The result may share memory with the object.
	Read func(obj tree.Tree) tree.Tree
	// Write changes obj, a copy of the stored object, as body asks. now is the time of
	// the write, as trees hold times. It reports faults, or refuses with an error, a *meta.Status.
	Write func(obj, body tree.Tree, now string, faults *Faults) error
	// Warn returns the warnings about a write of the sub-resource; nil: there are none.
	Warn func(obj, old tree.Tree) []string
	// KeepsGeneration: a write does not count as a change of what the object should be.
	KeepsGeneration bool
	// KeepsOwners: nobody becomes an owner of what a write changes.
	KeepsOwners bool
}

// ItemOffset returns the length of `{"kind":"…","apiVersion":"…",`, with which each stored object
// begins and which items of lists leave out. Items of custom kinds have it; the offset is 1.
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

// Subresource finds a sub-resource by name; nil if the kind has none of that name.
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
	// Path is a dotted path into the object, as in "status.phase"; or the name of a
	// function of the table engine, as in "func:podStatus".
	Path string
}

// NameFormat is the rule for metadata.name.
type NameFormat uint8

// The formats of names.
const (
	NameSubdomain   NameFormat = iota // DNS-1123 subdomain
	NameLabel                         // DNS-1123 label
	NameLabel1035                     // DNS-1035 label
	NamePathSegment                   // any text that can be one segment of a path
)
