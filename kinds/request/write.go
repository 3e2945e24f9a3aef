package request

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type PatchType uint8

const (
	JSONPatch PatchType = iota
	MergePatch
	StrategicMergePatch
)

// FieldValidation says how unknown and duplicate fields are treated.
type FieldValidation uint8

// Warn is the default of the API.
const (
	Warn FieldValidation = iota
	Ignore
	Strict
)

// A Change is what a Mutation does to its object: a Create, Update, Patch, Apply, Delete or
// Connect.
type Change interface{ isChange() }

// A Create creates an object from the decoded body. A create of a subresource, such as a binding,
// changes an existing object.
type Create struct{ Object tree.Tree }

// An Update replaces the object by the body, or creates it if its kind allows that.
type Update struct{ Object tree.Tree }

// A Patch changes an existing object by a patch other than an Apply.
type Patch struct {
	Type PatchType
	Body []byte // JSON
}

// An Apply is a server-side apply of a configuration, as sent by the client.
type Apply struct {
	Config tree.Tree
	Force  bool // takes over fields of other managers
	// Misplaced is the error of a configuration that names another object than Key, or nil.
	// Conflicts, and a uid without an existing object, take precedence.
	Misplaced error
	// Digest returns the digest of everything except the object that determines the result. The
	// store uses it to recognize a no-op apply. It is nil if the apply must be admitted, or its
	// kind may change.
	Digest func() meta.Digest
}

// A Delete holds the options of a delete, from body and query.
type Delete struct {
	GracePeriodSeconds *int64
	// UID and ResourceVersion are preconditions; nil requires nothing, and "" matches no object.
	UID, ResourceVersion *string
	// PropagationPolicy is "", "Orphan", "Background" or "Foreground".
	PropagationPolicy string
}

// A Connect opens a stream, such as the log of a Pod.
type Connect struct{}

func (Create) isChange()  {}
func (Update) isChange()  {}
func (Patch) isChange()   {}
func (Apply) isChange()   {}
func (Delete) isChange()  {}
func (Connect) isChange() {}

// Is reports whether the change of m is a C.
func Is[C Change](m *Mutation) bool {
	_, is := m.Change.(C)
	return is
}

// Body returns the object of a Create or Update, or the configuration of an Apply; nil otherwise.
func (m *Mutation) Body() tree.Tree {
	switch c := m.Change.(type) {
	case Create:
		return c.Object
	case Update:
		return c.Object
	case Apply:
		return c.Config
	}
	return nil
}

// A Mutation requests one change of one object.
type Mutation struct {
	Kind        *schema.Kind
	Key         meta.Key // Name is "" for a create with generateName
	Subresource string   // "" for the object itself
	Change      Change

	DryRun          bool
	FieldValidation FieldValidation
	FieldManager    string
	// KeepsOwners leaves managedFields unchanged.
	KeepsOwners bool
	// Named has the options as sent.
	Named NamedOptions

	// CreateRefusal is the error for an update or apply of a missing object, if the user may change
	// but not create it.
	CreateRefusal error
	// Admission has the plugins for the change, or nil.
	Admission *Admission
	// Recorder receives warnings and audit annotations, or nil.
	Recorder *Recorder
	// Fence, if set, names a role that the sender holds. The change is rejected if another server
	// has taken the role over since (persist.Guard). Raise takes it over.
	Fence *Guard
}

// Conversions convert objects between versions through a webhook, during a mutation. They may block
// until the request ends. Errors are *meta.Status.
type Conversions interface {
	// Convert converts an object from one version to another, without changing t.
	Convert(from, to *schema.Kind, t tree.Tree) (tree.Tree, error)
}

// NamedOptions are options of a write as sent; "" if absent.
type NamedOptions struct{ FieldManager, FieldValidation string }

// A Result is the result of a Mutation.
type Result struct {
	// Object is the new state, or the last state of a removed object.
	Object *meta.Object
	// Created says that the object did not exist before, also for an update.
	Created bool
	// Deleted says that the object no longer exists.
	Deleted bool
	// NoOp says that an apply was recognized as a no-op without computing the new state.
	NoOp bool
}
