package schema

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Kind is the compiled declaration of one version of a resource. It is immutable once the catalog
// is built.
type Kind struct {
	meta.GroupVersionKind
	Resource   string // plural, as in URLs
	Names      Names
	Namespaced bool
	Verbs      []string // verbs of the main resource; sorted, except for custom kinds
	// Storage names the collection in which the objects are stored. Several groups may share it.
	Storage meta.GroupResource
	// Stored is the storage version. It is the kind itself unless several kinds share a collection.
	Stored *Kind
	// Versions lists all kinds that share the collection. It is set only in the storage version.
	Versions []*Kind
	// Deprecation is nil unless the version is deprecated.
	Deprecation *Deprecation
	// SameAs is set if the kind is declared as a copy of another version, with few differences.
	SameAs bool
	// OffByDefault is set if the operator must enable the kind.
	OffByDefault bool
	// Feature is the feature gate that must be enabled to serve the kind, or "".
	Feature      string
	Writes       Writes
	NameFormat   NameFormat
	Subresources []Subresource
	Columns      []Column
	SelectFields []SelectField // beyond metadata.name and metadata.namespace
	// Declared declares the Message of a built-in kind. Kind.Message also works for custom kinds.
	Declared *Declaration
	// Origin is nil for a built-in kind.
	Origin *Origin
	// SetStrategy sets the following fields.
	Strategy   Strategy
	Preparer   Preparer   // nil if objects are stored as sent
	Conversion Conversion // to and from Stored; nil if that is the kind itself
}

// Names contains a kind's other names in discovery.
type Names struct {
	Singular   string
	List       string // list kind; "" for Kind followed by "List"
	Short      []string
	Categories []string
}

// Writes contains the options for creates, updates and deletes.
type Writes struct {
	// CreateOnUpdate lets a PUT create an absent object.
	CreateOnUpdate bool
	// ConditionalUpdate requires a resourceVersion in a PUT.
	ConditionalUpdate bool
	// Generation increments metadata.generation on changes outside metadata and status.
	Generation bool
	Deletion   Deletion
	// DeleteReturnsObject makes a delete return the deleted object instead of a Status.
	DeleteReturnsObject bool
}

// Deletion defines how objects are deleted. Finalizers delay every deletion.
type Deletion uint8

const (
	DeleteAtOnce     Deletion = iota
	DeleteGracefully          // after a grace period
	DeleteInSteps             // marked first (Strategy.BeginDelete), then removed by a controller
)

// GroupKind returns the kind without its version.
func (k *Kind) GroupKind() meta.GroupKind { return meta.GroupKind{Group: k.Group, Kind: k.Kind} }

// GroupResource returns the resource without its version.
func (k *Kind) GroupResource() meta.GroupResource {
	return meta.GroupResource{Group: k.Group, Resource: k.Resource}
}

// Virtual reports whether the kind's objects are not stored, like access reviews. Every stored kind
// supports watch, so a kind without that verb is virtual.
func (k *Kind) Virtual() bool { return !slices.Contains(k.Verbs, "watch") }

// A Deprecation lists the releases in which an API version was deprecated and removed, such as
// "1.23", and the replacement API. Removed and Replacement may be empty. A non-empty Warning
// replaces the standard warning.
type Deprecation struct{ Since, Removed, Replacement, Warning string }

// A SelectField is a field that field selectors can use. Path is its path in the storage version.
// If the value there is empty, selectors use the value at Fallback, which is another SelectField's
// Path or empty.
//
// If Name is empty, only selectors of other versions can use the field. The store keeps an index
// for Indexed fields.
type SelectField struct {
	Name, Path, Fallback string
	Indexed              bool
}

// A Subresource declares one subresource of a kind, such as status or scale.
type Subresource struct {
	Name  string
	Kind  meta.GroupVersionKind // kind of the body; zero for the parent's
	Verbs []string
	// BodyKind is the compiled form of Kind, or nil if the body has the parent's kind.
	BodyKind *Kind
	Scale    *Scale // for the subresource scale
	// Field is the only field outside metadata that a write may change, or empty for no
	// restriction.
	Field string
	// KeepsMetadata lists metadata fields that a write cannot change.
	KeepsMetadata []string
	// Connects marks a subresource that opens a connection, such as exec. It has no body. Kind, if
	// set, describes the query options.
	Connects bool
	View     View
}

// EveryField represents all fields in a list of field names.
const EveryField = "*"

// A Scale contains the dotted paths of the fields that the scale subresource exposes. The field at
// Selector is a label selector or a map of labels. Selector may be empty.
type Scale struct{ Replicas, StatusReplicas, Selector string }

// A View defines how a subresource reads and writes its object. If Write is nil, the subresource's
// handler implements writes.
type View struct {
	// Read returns the response body, which may share memory with the object. A nil Read returns
	// the object itself, or nothing if the subresource has a different kind.
	Read func(obj tree.Tree) tree.Tree
	// Write applies body to obj, which is a copy. now is the current time in tree form. The error
	// is a *meta.Status.
	Write func(obj, body tree.Tree, now string, faults *Faults) error
	// KeepsGeneration leaves metadata.generation unchanged on a write.
	KeepsGeneration bool
	// KeepsOwners leaves managed fields unchanged on a write.
	KeepsOwners bool
}

// ItemOffset returns the number of bytes of an object's stored JSON that a list skips. Items of
// built-in kinds appear without the leading `{"kind":"…","apiVersion":"…",`. Items of custom kinds
// keep these fields, so only the brace is skipped.
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

// Subresource returns the named subresource, or nil.
func (k *Kind) Subresource(name string) *Subresource {
	for i := range k.Subresources {
		if k.Subresources[i].Name == name {
			return &k.Subresources[i]
		}
	}
	return nil
}

// A Column is one column in the Table representation of objects.
type Column struct {
	Name, Type, Format, Description string
	Priority                        int32
	// Path is a dotted path into the object, such as "status.phase", or a function of the table
	// engine, such as "func:podStatus".
	Path string
}

// NameFormat is the validation rule for metadata.name.
type NameFormat uint8

const (
	NameSubdomain   NameFormat = iota // DNS-1123 subdomain
	NameLabel                         // DNS-1123 label
	NamePathSegment                   // any single path segment
)
