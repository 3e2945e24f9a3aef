package webhook

import (
	"errors"
	"fmt"
	"maps"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/merge"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/review"
)

// applyPatch applies a patch to the object in the webhook's version and reports whether the object
// changed. Errors are internal errors rather than call failures, because the webhook responded.
func (h *hook) applyPatch(patch []byte, v *review.View, k *schema.Kind, a *request.Attributes) (changed bool, err error) {
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
	for _, is := range [][2]string{{"apiVersion", v.BodyKind.APIVersion()}, {"kind", v.BodyKind.Kind}} {
		if got := patched[is[0]]; got != is[1] && (got != nil || v.BodyKind.IsCustom()) { // a built-in kind may be omitted
			return false, internal(fmt.Errorf("admission webhook %q attempted to change the %s of the object from %s to %v", h.name, is[0], is[1], got))
		}
	}
	owners, same := v.Object.Object("metadata")["managedFields"], tree.StrictEqual(before.Object("metadata")["managedFields"], patched.Object("metadata")["managedFields"])
	object, _, err := codec.Conform(v.BodyKind.Message(), patched, nil)
	if err != nil {
		return false, internal(err)
	}
	if same && owners != nil { // their JSON form differs
		object.EnsureObject("metadata")["managedFields"] = owners
	}
	return h.store(object, v, k, a)
}

func decodeObject(k *schema.Kind, json []byte) (tree.Tree, error) {
	v, err := codec.DecodeAnyStored(json)
	if err != nil {
		return nil, err
	}
	t, ok := v.(tree.Tree)
	if !ok {
		return nil, errors.New(k.Kind + " is not an object")
	}
	return t, nil
}

// store replaces the object's content in place, because other plugins hold the tree. It reports
// whether the object changed semantically. An equivalent change, such as an empty list for an
// absent one, causes no reinvocation.
func (h *hook) store(object tree.Tree, v *review.View, k *schema.Kind, a *request.Attributes) (changed bool, err error) {
	place, m := a.New, v.BodyKind.Message()
	if a.Body != nil {
		place = a.Body
	}
	v.Restore(object, place.Object("metadata"))
	switch sub := k.Subresource(a.Subresource); {
	case a.Body != nil:
	case a.Old == nil && sub != nil && sub.BodyKind != nil, k.Virtual():
		delete(object, "apiVersion")
		delete(object, "kind")
	default:
		if object, err = v.Stored(object); err != nil {
			return false, err
		}
		m = k.Stored.Message()
	}
	for _, name := range []string{"apiVersion", "kind"} {
		object.CopyField(place, name)
	}
	if tree.StrictEqual(object, place) {
		return false, nil
	}
	changed = k.Stored.IsCustom() || !m.Same(object, place)
	clear(place)
	maps.Copy(place, object)
	return changed, nil
}
