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

// FieldValidation determines how unknown and duplicate fields are handled.
type FieldValidation uint8

// Values of FieldValidation. Warn is the default in the Kubernetes API.
const (
	Warn FieldValidation = iota
	Ignore
	Strict
)

// A Change is the effect of a Mutation on its object: a Create, Update, Patch, Apply, Delete or
// Connect.
type Change interface{ isChange() }

// A Create creates an object from the decoded body. Creating a subresource, such as a binding,
// changes an existing object.
type Create struct{ Object tree.Tree }

// An Update replaces the object with the body. It creates a missing object if the kind allows that.
type Update struct{ Object tree.Tree }

// A Patch applies a patch to an existing object. Server-side apply is an Apply instead.
type Patch struct {
	Type PatchType
	Body []byte // JSON
}

// An Apply is a server-side apply of a client's configuration.
type Apply struct {
	Config tree.Tree
	Force  bool // takes over fields of other managers
	// Misplaced is the error for a configuration that names an object other than Key, and otherwise
	// nil. Two errors take precedence: an apply conflict, and a configuration with a uid whose
	// object does not exist.
	Misplaced error
	// Digest returns a hash of everything that determines the result, except the object. The store
	// uses it to recognize no-op applies. Digest is nil if the apply requires admission, or if a
	// schema change may change the meaning of the configuration.
	Digest func() meta.Digest
}

// A Delete contains the options of a delete request, from its body and query.
type Delete struct {
	GracePeriodSeconds *int64
	// UID and ResourceVersion are preconditions. A nil precondition is always met, and "" matches
	// no object.
	UID, ResourceVersion *string
	// PropagationPolicy is "Orphan", "Background", "Foreground", or empty for the default.
	PropagationPolicy string
}

// A Connect opens a stream, such as a Pod's log.
type Connect struct{}

func (Create) isChange()  {}
func (Update) isChange()  {}
func (Patch) isChange()   {}
func (Apply) isChange()   {}
func (Delete) isChange()  {}
func (Connect) isChange() {}

// Is reports whether the change of m has type C.
func Is[C Change](m *Mutation) bool {
	_, is := m.Change.(C)
	return is
}

// Body returns the object of a Create or Update, or the configuration of an Apply. It returns nil
// for other changes.
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
	// Named contains the options as sent by the client.
	Named NamedOptions

	// CreateRefusal is the error for an update or apply that would create the object without
	// permission. It is nil if the user may create the object.
	CreateRefusal error
	// Admission contains the plugins for the change, or is nil.
	Admission *Admission
	// Recorder receives warnings and audit annotations. It may be nil.
	Recorder *Recorder
	// Fence, if set, names a role that the sender holds. The change is rejected if another server
	// has taken over the role (persist.Guard). With Raise, this change takes over the role.
	Fence *Guard
}

// Conversions converts objects between versions through a webhook during a mutation. It may block
// until the request ends. Errors are *meta.Status.
type Conversions interface {
	// Convert converts an object from one version to another, without changing t.
	Convert(from, to *schema.Kind, t tree.Tree) (tree.Tree, error)
}

// NamedOptions contains options of a write as sent by the client. Absent options are empty.
type NamedOptions struct{ FieldManager, FieldValidation string }

// A Result is the result of a Mutation.
type Result struct {
	// Object is the new version of the object, or its last version if it was removed.
	Object *meta.Object
	// Created is true if the object did not exist before, even for an update.
	Created bool
	// Deleted is true if the object no longer exists.
	Deleted bool
	// NoOp is true if an apply was recognized as a no-op without computing the new object.
	NoOp bool
}

// NotFound returns the NotFound error for the object of m.
func (m *Mutation) NotFound() *meta.Status {
	return meta.NewNotFound(m.Kind.GroupResource(), m.Key.Name)
}

// Conflict returns the Conflict error for a failed precondition of m.
func (m *Mutation) Conflict(why string) *meta.Status {
	return meta.NewConflict(m.Kind.GroupResource(), m.Key.Name, why)
}
