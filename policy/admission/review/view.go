package review

import (
	"cmp"
	"maps"
	"strconv"

	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/match"
)

// A View is an admission request with its objects in one API version.
type View struct {
	attributes *request.Attributes
	kind       *schema.Kind
	sub        *schema.Subresource
	// BodyKind is the kind of Object and OldObject.
	BodyKind *schema.Kind
	// Object is nil for a delete, and OldObject is nil for a create.
	Object, OldObject tree.Tree
	hidden            []string // metadata fields that BeforeCreation has removed from Object
}

// NewView returns a View of a request with its objects converted to kind k, which may be another
// version of the request's kind. The conversion may call a webhook. If the call fails, the error is
// a *meta.Status.
func NewView(a *request.Attributes, k *schema.Kind) (*View, error) {
	sub := k.Subresource(a.Subresource)
	v := &View{attributes: a, kind: k, sub: sub, BodyKind: convert.BodyKind(k, sub)}
	var err error
	v.Object, v.OldObject, err = v.objects()
	return v, err
}

// objects returns the request's object and old object. old is nil if the request creates the object
// or a subresource, such as an eviction.
func (v *View) objects() (object, old tree.Tree, err error) {
	a := v.attributes
	ownBody := v.sub != nil && v.sub.BodyKind != nil
	switch {
	case a.Old == nil && (ownBody || a.Operation == request.OnConnect): // an operation or a connection
		return v.named(a.New), nil, nil
	case match.CreatesSubresource(a):
		body := a.Body
		if body == nil {
			body = a.Mutation.Body()
		}
		if !ownBody {
			body = a.New
		}
		return v.named(body), nil, nil
	case ownBody && a.Body != nil:
		object = v.named(a.Body)
	default:
		if object, err = v.form(a.New); err != nil {
			return nil, nil, err
		}
	}
	if old, err = v.form(a.Old); err != nil {
		return nil, nil, err
	}
	return v.withVersion(object, a.Mutation.Body()), v.withVersion(old, nil), nil
}

// form converts a stored object to the View's kind. It returns nil for nil.
func (v *View) form(stored tree.Tree) (tree.Tree, error) {
	if stored == nil {
		return nil, nil
	}
	if v.isConverted() {
		var err error
		if stored, err = v.convert(v.attributes.Kind, v.kind, stored); err != nil {
			return nil, err
		}
	}
	return v.named(convert.FromStored(v.kind, v.sub, stored)), nil
}

func (v *View) isConverted() bool {
	return v.kind.ConversionWebhook() != nil && v.kind != v.attributes.Kind
}

func (v *View) convert(from, to *schema.Kind, t tree.Tree) (tree.Tree, error) {
	t, err := v.attributes.Conversions.Convert(from, to, t)
	if err != nil {
		return nil, meta.NewInternalCause(err.Error())
	}
	return t, nil
}

// Stored converts an object from the View's kind back to the request's kind. It may modify object.
func (v *View) Stored(object tree.Tree) (tree.Tree, error) {
	if !v.isConverted() {
		return convert.ToStored(v.kind, object), nil
	}
	rules.Default(v.kind, object)
	converted, err := v.convert(v.kind, v.attributes.Kind, object)
	if err == nil {
		converted.EnsureObject("metadata").CopyField(object.Object("metadata"), "resourceVersion") // conversion omits it
	}
	return converted, err
}

// named returns a shallow copy with the View's apiVersion and kind. Callers must clone nested
// values before they modify them.
func (v *View) named(object tree.Tree) tree.Tree {
	if object == nil {
		return nil
	}
	out := maps.Clone(object)
	out["apiVersion"], out["kind"] = v.BodyKind.APIVersion(), v.BodyKind.Kind
	return out
}

// withVersion sets an object's resourceVersion unless admission has set it. The request body's
// version takes precedence over the old object's. object must be a copy.
func (v *View) withVersion(object, body tree.Tree) tree.Tree {
	if object == nil || v.attributes.OldVersion == 0 || object.Object("metadata").Has("resourceVersion") {
		return object
	}
	version := cmp.Or(body.Object("metadata").String("resourceVersion"), strconv.FormatUint(v.attributes.OldVersion, 10))
	metadata := maps.Clone(object.Object("metadata"))
	if metadata == nil {
		metadata = tree.Tree{}
	}
	metadata["resourceVersion"] = version
	object["metadata"] = metadata
	return object
}

// BeforeCreation hides the fields that the server sets in a new object, such as a generated name.
// Kubernetes sets them after mutating admission.
func (v *View) BeforeCreation() {
	a := v.attributes
	if a.Operation != request.OnCreate || v.Object == nil || v.kind.Virtual() {
		return
	}
	v.hidden = []string{"uid", "creationTimestamp", "selfLink"}
	metadata := maps.Clone(v.Object.Object("metadata"))
	if v.kind.Stored.Writes.Generation {
		v.hidden = append(v.hidden, "generation")
	}
	if v.generatesName() && metadata["name"] == a.Key.Name {
		v.hidden = append(v.hidden, "name")
	}
	for _, name := range v.hidden {
		delete(metadata, name)
	}
	v.Object["metadata"] = metadata
}

// Restore restores the fields that the View hid or added, unless a mutation changed them. object is
// the mutated object. held is the metadata of the request's object.
func (v *View) Restore(object, held tree.Tree) {
	metadata, shown := object.EnsureObject("metadata"), v.Object.Object("metadata")
	for _, name := range v.hidden {
		if !metadata.Has(name) && (name != "name" || metadata.String("generateName") == held.String("generateName")) {
			metadata.CopyField(held, name)
		}
	}
	if asked := metadata.String("resourceVersion"); asked == shown.String("resourceVersion") {
		metadata.CopyField(held, "resourceVersion")
	} else {
		metadata["resourceVersion"] = asked // "" means an update of any version
	}
}

func (v *View) generatesName() bool {
	c, _ := v.attributes.Mutation.Change.(request.Create)
	return v.attributes.Subresource == "" && c.Object != nil && c.Object.Name() == ""
}
