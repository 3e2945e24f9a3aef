package request

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Verb is what a Mutation does.
type Verb uint8

// The verbs.
const (
	Create Verb = iota
	Update
	Patch
	Delete
	Connect // opens a stream to what an object stands for, such as the log of a Pod
)

// A PatchType tells the patch formats apart.
type PatchType uint8

// The patch types.
const (
	JSONPatch PatchType = iota
	MergePatch
	StrategicMergePatch
	ApplyPatch // its configuration is Object, as it was sent
)

// FieldValidation says what happens to unknown and duplicate fields.
type FieldValidation uint8

// The levels; Warn is the default of the API.
const (
	Warn FieldValidation = iota
	Ignore
	Strict
)

// A Mutation asks for one change of one object.
type Mutation struct {
	Verb        Verb
	Kind        *schema.Kind
	Key         meta.Key // Name is "" for a create with generateName
	Subresource string   // "" for the object itself
	// Object is the body of a create or an update, decoded by the kind's plan.
	Object tree.Tree
	// PatchType and PatchBody are the body of a patch, as JSON.
	PatchType PatchType
	PatchBody []byte
	// Delete holds the options of a delete.
	Delete DeleteOptions

	// Force: an apply takes over what others own.
	Force bool
	// Misplaced is the error of an apply whose configuration names another object than Key; nil if it does not. Conflicts, and a
	// uid where there is no object, are told before.
	Misplaced error
	// ApplyDigest is the digest of all of an apply that its outcome depends on beside the object, by
	// which the store recognizes one that changed nothing before. Nil if that must not count: the
	// apply must be admitted, or its kind may change.
	ApplyDigest func() meta.Digest

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

// DeleteOptions are the options of a delete, from body and query.
type DeleteOptions struct {
	GracePeriodSeconds *int64
	// UID and ResourceVersion are preconditions; nil asks for nothing, and "" for what no object has.
	UID, ResourceVersion *string
	// PropagationPolicy is "", "Orphan", "Background" or "Foreground".
	PropagationPolicy string
}

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
