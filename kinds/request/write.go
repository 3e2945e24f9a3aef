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
	// ApplyDigest is the hash of everything in an apply that its outcome depends on, besides the object;
	// nil if repeated applies need not be recognized.
	ApplyDigest func() meta.Digest

	DryRun          bool
	FieldValidation FieldValidation
	FieldManager    string

	// Admission, if set, is asked about every state that the mutation would make.
	Admission Admission
}

// An Admission looks at a change before it is validated, completes it or refuses it. It runs in the turn
// of the object's owner, possibly again for another state: it must be quick, must not wait for anything
// and must have no effect besides the change. Errors are *meta.Status.
type Admission interface {
	Admit(c Change) error
}

// A Change is what an Admission looks at, in stored form. Old is nil for an object that does
// not exist yet, New for one that is to be deleted. Only New may be changed.
type Change struct {
	Mutation *Mutation
	Old, New tree.Tree
}

// Admit asks the Admission of m, if it has one.
func (m *Mutation) Admit(old, wanted tree.Tree) error {
	if m.Admission == nil {
		return nil
	}
	return m.Admission.Admit(Change{Mutation: m, Old: old, New: wanted})
}

// DeleteOptions are the options of a delete, from body and query.
type DeleteOptions struct {
	GracePeriodSeconds *int64
	// UID and ResourceVersion are preconditions; "" asks for nothing.
	UID, ResourceVersion string
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
	// NoOp: an apply asks for nothing that the object does not have already.
	NoOp bool
	// Warnings are texts for Warning headers.
	Warnings []string
}
