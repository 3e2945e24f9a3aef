package request

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A PatchType is the format of a Patch.
type PatchType uint8

// The patch types.
const (
	JSONPatch PatchType = iota
	MergePatch
	StrategicMergePatch
)

// FieldValidation says what happens to unknown and duplicate fields.
type FieldValidation uint8

// The levels; Warn is the default of the API.
const (
	Warn FieldValidation = iota
	Ignore
	Strict
)

// A Change is what a Mutation does to its object: a Create, an Update, a Patch, an Apply,
// a Delete or a Connect.
type Change interface{ isChange() }

// A Create creates an object from the body, which the kind's plan has decoded. A create of a
// subresource, such as a binding, changes an existing object.
type Create struct{ Object tree.Tree }

// An Update replaces the object by the body, or creates it if its kind allows that.
type Update struct{ Object tree.Tree }

// A Patch changes an existing object by a patch of any format but that of an Apply.
type Patch struct {
	Type PatchType
	Body []byte // JSON
}

// An Apply is a server-side apply of a configuration, as the client sent it.
type Apply struct {
	Config tree.Tree
	Force  bool // takes over fields that other managers own
	// Misplaced is the error of a configuration that names another object than Key; nil otherwise.
	// Conflicts, and a uid where no object exists, are reported first.
	Misplaced error
	// Digest returns the digest of everything but the object that determines the result. The store
	// uses it to recognize an apply that changed nothing before. It is nil if the apply must be
	// admitted, or its kind may change.
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

// Body returns the object of a Create or an Update, or the configuration of an Apply; nil otherwise.
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

// A Mutation asks for one change of one object.
type Mutation struct {
	Kind        *schema.Kind
	Key         meta.Key // Name is "" for a create with generateName
	Subresource string   // "" for the object itself
	Change      Change

	DryRun          bool
	FieldValidation FieldValidation
	FieldManager    string
	// KeepsOwners: nobody becomes an owner of what is changed.
	KeepsOwners bool
	// Named are options as the request has them.
	Named NamedOptions

	// CreateRefusal answers an update or an apply of an object that does not exist, which its user may change but not create; nil
	// if they may.
	CreateRefusal error
	// Admission is what the change has to pass; nil for nothing.
	Admission *Admission
	// Recorder takes warnings and annotations for the audit event; nil if nobody wants them.
	Recorder *Recorder
	// Fence names what the sender has taken over, if the change counts only as long as no other server has: it is refused then
	// (persist.Guard). Raise takes it over.
	Fence *Guard
}

// Conversions convert objects between the versions of a kind that a webhook converts, while a mutation is computed. They
// may wait, until the request ends. Errors are *meta.Status.
type Conversions interface {
	// Convert is what one version shows of an object in the form of another one, of which the tree is not changed.
	Convert(from, to *schema.Kind, t tree.Tree) (tree.Tree, error)
}

// NamedOptions are options of a write as its request has them; "" for those that it leaves out.
type NamedOptions struct{ FieldManager, FieldValidation string }

// A Result answers a Mutation.
type Result struct {
	// Object is the new state; for an object that is gone now, its last state.
	Object *meta.Object
	// Created: the object did not exist before, also for an update.
	Created bool
	// Deleted: the object does not exist any more.
	Deleted bool
	// NoOp: an apply was found to change nothing, without computing the new state.
	NoOp bool
}
