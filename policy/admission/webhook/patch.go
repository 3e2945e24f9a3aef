package webhook

import (
	"errors"
	"fmt"
	"maps"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/merge"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/review"
)

// applyPatch changes a request as the patch of a hook says, which has seen it as v, in the form of a kind;
// it tells whether anything has changed. The patch applies to what the hook was sent, in its version, not
// to the stored form. Errors are internal, and not a failure to call: the hook did answer.
func (h *hook) applyPatch(patch []byte, v *review.View, k *schema.Kind, a *admission.Attributes) (changed bool, err error) {
	if v.Object == nil {
		return false, internal(fmt.Errorf("admission webhook %q attempted to modify the object, which is not supported for this operation", h.name))
	}
	before, err := decodeObject(v.BodyKind, encode(v.BodyKind, v.Object))
	if err != nil {
		return false, internal(err)
	}
	patched, err := merge.JSONPatch(before, patch)
	if err != nil {
		return false, internal(err)
	}
	if version, kind := patched["apiVersion"], patched["kind"]; version != v.BodyKind.APIVersion() || kind != v.BodyKind.Kind {
		return false, internal(fmt.Errorf("admission webhook %q attempted to change the kind of the object to %v, Kind=%v", h.name, version, kind))
	}
	if metadata, ok := patched["metadata"].(tree.Tree); ok {
		metadata = maps.Clone(metadata)
		delete(metadata, "managedFields") // which no hook changes
		patched = maps.Clone(patched)
		patched["metadata"] = metadata
	}
	object, _, err := codec.Conform(v.BodyKind.Message(), patched, nil)
	if err != nil {
		return false, internal(err)
	}
	return h.store(object, v, k, a)
}

// decodeObject is an object as its JSON shows it, which has the fields that a patch may point to.
func decodeObject(k *schema.Kind, json []byte) (tree.Tree, error) {
	v, err := codec.DecodeAnyStored(json)
	if err != nil {
		return nil, err
	}
	t, ok := v.(tree.Tree)
	if !ok {
		return nil, errors.New(k.Kind + " is no object")
	}
	return t, nil
}

// keptMetadata is what the server sets in metadata; no hook changes it. Names and versions were decided
// before admission; a hook that could change them would write another object.
var keptMetadata = []string{
	"name", "generateName", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
	"generation", "managedFields", "resourceVersion", "selfLink",
}

// store puts what a hook has made of an object in its place, and tells whether that has changed. The tree
// is changed in place, since others hold it. A change that means nothing, as an empty list for an absent
// one, is stored but asks nobody again.
func (h *hook) store(object tree.Tree, v *review.View, k *schema.Kind, a *admission.Attributes) (changed bool, err error) {
	place, m := a.New, v.BodyKind.Message()
	switch sub := k.Subresource(a.Subresource); {
	case a.Body != nil:
		place = a.Body
	case a.Old == nil && sub != nil && sub.BodyKind != nil, k.Virtual():
		delete(object, "apiVersion")
		delete(object, "kind")
	default:
		if object, err = v.Stored(object); err != nil {
			return false, err
		}
		m = k.Stored.Message()
	}
	metadata, was := object.EnsureObject("metadata"), place.Object("metadata")
	for _, name := range keptMetadata {
		metadata.CopyField(was, name)
	}
	for _, name := range []string{"apiVersion", "kind"} {
		object.CopyField(place, name)
	}
	if tree.StrictEqual(object, place) {
		return false, nil
	}
	changed = k.Stored.ExplicitEmpty || !m.Same(object, place)
	clear(place)
	maps.Copy(place, object)
	return changed, nil
}
