package request

import (
	"context"
	"maps"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Attributes describes one change to the admission plugins. Old and New are in the storage version.
// Plugins may change only New, and only through Edit, because an update shares unchanged parts with
// Old. Plugins must not retain Attributes.
type Attributes struct {
	User        *User // nil for the server itself
	Operation   Operation
	Kind        *schema.Kind // as in the request
	Subresource string       // "" for the object itself
	Key         meta.Key
	Old         tree.Tree // nil for a create
	New         tree.Tree // nil for a delete
	OldVersion  uint64    // version of Old; 0 if it has none yet
	// Body is the request body of a subresource that has its own kind, such as a Scale. It is set
	// only in the MayBlock stage. Mutators then change Body instead of New, because New is computed
	// from Body.
	Body tree.Tree
	// Reinvocation is true if plugins see the change again because a later plugin changed it.
	Reinvocation bool
	// Mutation is the request. Plugins must not change it.
	Mutation *Mutation
	// Context is done when the result is no longer needed.
	Context context.Context
	// Conversions converts between Kind and other versions through a webhook. It is nil without a
	// webhook.
	Conversions Conversions
	// Notes contains data that plugins keep between calls in the MayBlock stage.
	Notes map[any]any
	// Complete computes the new object from the one passed to Rewrite. It is nil if Rewrite changes
	// New or Body in place.
	Complete func(object tree.Tree) (tree.Tree, error)

	rewritten bool
	reserved  *Reservation
}

// NewAttributes returns the Attributes of mutation m, which changes old to wanted.
func NewAttributes(ctx context.Context, m *Mutation, old, wanted tree.Tree) *Attributes {
	if ctx == nil {
		ctx = context.Background()
	}
	a := &Attributes{Kind: m.Kind, Subresource: m.Subresource, Key: m.Key, Mutation: m, Context: ctx}
	if m.Admission != nil {
		a.User = m.Admission.User
	}
	a.SetChange(old, wanted)
	return a
}

// SetChange sets Old and New and derives Operation from them.
func (a *Attributes) SetChange(old, wanted tree.Tree) {
	a.Old, a.New = old, wanted
	switch {
	case Is[Connect](a.Mutation):
		a.Operation = OnConnect
	case wanted == nil:
		a.Operation = OnDelete
	case old == nil:
		a.Operation = OnCreate
	default:
		a.Operation = OnUpdate
	}
}

// Rewrite replaces the new object with object, which must be in the storage version. For a
// subresource with its own kind, it replaces the request body. Fields that the request cannot
// change keep their values, and missing fields are defaulted.
func (a *Attributes) Rewrite(object tree.Tree) error {
	a.rewritten = true
	if a.Complete == nil {
		target := a.New
		if a.Body != nil {
			target = a.Body
		}
		maps.DeleteFunc(target, func(name string, _ any) bool { return !object.Has(name) })
		maps.Copy(target, object)
		return nil
	}
	completed, err := a.Complete(object)
	if err != nil {
		return err
	}
	a.New = completed
	if sub := a.Kind.Subresource(a.Subresource); sub != nil && sub.BodyKind != nil {
		a.Body = object
	}
	return nil
}

// Edit returns the object at a path in New for writing. It creates missing objects and copies those
// that New shares with Old. The caller may set members of the returned object, but must not modify
// their values.
func (a *Attributes) Edit(path ...string) tree.Tree {
	object, was := a.New, a.Old
	for _, name := range path {
		part, there := object[name].(tree.Tree)
		was = was.Object(name)
		switch {
		case !there:
			part = tree.Tree{}
			object[name] = part
		case was != nil && tree.SameRef(part, was):
			part = maps.Clone(part)
			object[name] = part
		}
		object = part
	}
	return object
}

// EditAll returns the object in the named field of New. The caller may modify it at any depth.
func (a *Attributes) EditAll(name string) tree.Tree {
	if a.Old == nil {
		return a.New.EnsureObject(name)
	}
	object, _ := tree.Clone(a.New.EnsureObject(name)).(tree.Tree)
	a.New[name] = object
	return object
}

// IsCreate reports whether the change creates an object.
func (a *Attributes) IsCreate() bool { return a.Operation == OnCreate }

// DryRun reports whether the change is computed but not stored.
func (a *Attributes) DryRun() bool { return a.Mutation.DryRun }

// Forbidden returns the error with which a plugin rejects the change.
func (a *Attributes) Forbidden(reason string) error {
	return meta.NewForbidden(a.Kind.GroupResource(), a.Key.Name, reason)
}

// Invalid returns the error of a change with invalid fields.
func (a *Attributes) Invalid(causes []meta.Cause) error {
	return meta.NewInvalid(a.Kind.GroupKind(), a.Key.Name, causes)
}

// Warn adds warnings for the client, which are sent even if the change is rejected.
func (a *Attributes) Warn(texts ...string) { a.Mutation.Recorder.Warn(texts...) }

// Annotate adds an annotation to the request's audit event at any level. The key is in the server's
// naming profile. Annotate keeps an existing value, and returns false if it differs.
func (a *Attributes) Annotate(key, value string) bool {
	return a.Mutation.Recorder.Annotate(Annotation{Key: key, Value: value})
}

// AnnotateDetail adds an annotation to the request's audit event if the event includes the body.
func (a *Attributes) AnnotateDetail(key, value string) {
	a.Mutation.Recorder.Annotate(Annotation{Key: key, Value: value, Detailed: true})
}

// Note stores a plugin's data in Notes.
func (a *Attributes) Note(plugin, note any) {
	if a.Notes == nil {
		a.Notes = map[any]any{}
	}
	a.Notes[plugin] = note
}

// Reserve records the reservation r for the change. Only Validators of stage Last may call it.
func (a *Attributes) Reserve(r *Reservation) { a.reserved = a.reserved.With(r) }
