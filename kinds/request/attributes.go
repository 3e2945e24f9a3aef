package request

import (
	"context"
	"maps"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Attributes are one change under admission, in stored form. Plugins may change New alone, by Edit:
// an update shares with Old what it leaves as it is. They keep nothing of the Attributes.
type Attributes struct {
	User        *User // nil for the server itself
	Operation   Operation
	Kind        *schema.Kind // as the request names it
	Subresource string       // "" for the object itself
	Key         meta.Key
	Old         tree.Tree // nil for a create
	New         tree.Tree // nil for a delete
	OldVersion  uint64    // of Old; 0 if it has none yet
	// Body is the body of a write to a subresource whose body is of another kind, such as a Scale. It is
	// set while plugins run that may block. Mutators change it instead of New, which is computed from it.
	Body tree.Tree
	// Reinvocation reports that plugins see the change for the second time, because a later one has
	// changed it.
	Reinvocation bool
	// Mutation is the request. It must not be changed.
	Mutation *Mutation
	// Context ends when the result is no longer needed.
	Context context.Context
	// Conversions convert between Kind and other versions if a webhook does; nil otherwise.
	Conversions Conversions
	// Notes are what plugins keep of one change between the calls of stage MayBlock.
	Notes map[any]any
	// Complete returns the object that the change makes of the one that Rewrite was given. It is nil if
	// the caller uses New, or Body, as it was changed in place.
	Complete func(object tree.Tree) (tree.Tree, error)

	rewritten bool
	reserved  *Reservation
}

// NewAttributes returns the attributes of the change from old to wanted that m makes.
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

// SetChange sets Old and New, and the Operation that follows from them.
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

// Rewrite replaces New, in stored form, or the body of the subresource. What the request itself could
// not have changed stays as it was, and missing fields get their defaults.
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

// Edit returns the object at a path of names inside New, to be written to. It copies what New shares
// with Old on the way, and adds what is missing. Only the object itself may be changed, not its values.
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

// EditAll returns the object called name inside New, to be written to at any depth.
func (a *Attributes) EditAll(name string) tree.Tree {
	if a.Old == nil {
		return a.New.EnsureObject(name)
	}
	object, _ := tree.Clone(a.New.EnsureObject(name)).(tree.Tree)
	a.New[name] = object
	return object
}

// IsCreate reports whether the change makes a new object.
func (a *Attributes) IsCreate() bool { return a.Operation == OnCreate }

// DryRun reports whether the change will not be stored.
func (a *Attributes) DryRun() bool { return a.Mutation.DryRun }

// Forbidden returns the error that refuses the change.
func (a *Attributes) Forbidden(reason string) error {
	return meta.NewForbidden(a.GroupResource(), a.Key.Name, reason)
}

// GroupResource returns the resource that the request names.
func (a *Attributes) GroupResource() meta.GroupResource {
	return meta.GroupResource{Group: a.Kind.Group, Resource: a.Kind.Resource}
}

// Warn adds warnings for the client, whether or not the change is refused.
func (a *Attributes) Warn(texts ...string) { a.Mutation.Recorder.Warn(texts...) }

// Annotate adds an annotation to the audit event of the request, at any level. The key has the names of
// the server's naming profile. It returns false if the key has another value already, which stays.
func (a *Attributes) Annotate(key, value string) bool {
	return a.Mutation.Recorder.Annotate(Annotation{Key: key, Value: value})
}

// AnnotateDetail adds an annotation to the audit event of the request if that holds the body.
func (a *Attributes) AnnotateDetail(key, value string) {
	a.Mutation.Recorder.Annotate(Annotation{Key: key, Value: value, Detailed: true})
}

// Note keeps a note of a plugin.
func (a *Attributes) Note(plugin, note any) {
	if a.Notes == nil {
		a.Notes = map[any]any{}
	}
	a.Notes[plugin] = note
}

// Reserve sets r aside for the change. It is for Validators of the last stage.
func (a *Attributes) Reserve(r *Reservation) { a.reserved = a.reserved.With(r) }
