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
	// ApplyDigest is the digest of all of an apply that its outcome depends on beside the object, by
	// which the store recognizes one that changed nothing before. Nil if that must not count: the
	// apply must be admitted, or its kind may change.
	ApplyDigest func() meta.Digest

	DryRun          bool
	FieldValidation FieldValidation
	FieldManager    string

	// Admission and Waiting complete or refuse the change on behalf of policy; nil where nothing
	// applies to the kind and the sub-resource.
	Admission Admission
	Waiting   WaitingAdmission
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
	// NoOp: an apply was found to change nothing, without computing the new state.
	NoOp bool
	// Warnings are texts for Warning headers.
	Warnings []string
}
