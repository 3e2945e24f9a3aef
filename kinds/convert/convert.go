package convert

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// FromStored converts a tree of the stored version to kind k, or to its subresource sub if sub is
// not nil. It returns nil if the subresource cannot be read. The result may share memory with t,
// which does not change.
func FromStored(k *schema.Kind, sub *schema.Subresource, t tree.Tree) tree.Tree {
	if sub != nil && sub.BodyKind != nil {
		if sub.View.Read == nil {
			return nil
		}
		return sub.View.Read(t)
	}
	if k.Stored == k {
		return t
	}
	return k.Conversion.FromStored(tree.Clone(t).(tree.Tree))
}

// ToStored converts a tree of kind k to the stored version and applies the defaults of both. It may
// change t. The result retains fields that only k has, so that they can be validated. Keep removes
// them later.
func ToStored(k *schema.Kind, t tree.Tree) tree.Tree {
	rules.Default(k, t)
	if k.Stored == k {
		return t
	}
	t = k.Conversion.ToStored(t)
	delete(t, "apiVersion")
	delete(t, "kind")
	rules.Default(k.Stored, t)
	return t
}

// Keep removes a converted object's fields that the stored version lacks. Only custom kinds have
// versions with such fields.
func Keep(k *schema.Kind, t tree.Tree) tree.Tree {
	if k.Conversion == nil {
		return t
	}
	return k.Conversion.Keep(t)
}

// BodyKind returns the kind of request and response bodies of k or its subresource sub. Some
// subresources have another kind, such as Scale.
func BodyKind(k *schema.Kind, sub *schema.Subresource) *schema.Kind {
	if sub != nil && sub.BodyKind != nil {
		return sub.BodyKind
	}
	return k
}

// Object converts a stored object to kind k, or to its subresource sub. It returns nil if the
// subresource cannot be read, and an error if the stored bytes cannot be decoded.
func Object(k *schema.Kind, sub *schema.Subresource, o *meta.Object) (*meta.Object, error) {
	bodyKind := BodyKind(k, sub)
	if bodyKind == k.Stored {
		return ToCurrentSchema(bodyKind, o)
	}
	tree, err := DecodeStored(k.Stored, o.JSON)
	if err != nil {
		return nil, fmt.Errorf("stored object %s: %w", o.Key, err)
	}
	return encode(bodyKind, o, FromStored(k, sub, tree)), nil
}

// View returns the subresource sub of an object already converted to k, or nil if it cannot be
// read. sub must have its own kind.
func View(k *schema.Kind, sub *schema.Subresource, o *meta.Object) (*meta.Object, error) {
	if sub.View.Read == nil {
		return nil, nil
	}
	tree, err := codec.DecodeStored(k.Message(), o.JSON)
	if err != nil {
		return nil, fmt.Errorf("object %s as %s: %w", o.Key, k.APIVersion(), err)
	}
	return encode(sub.BodyKind, o, sub.View.Read(tree)), nil
}

// encode returns a tree as an object of kind k with the key, version and metadata of o. It returns
// nil for a nil tree.
func encode(k *schema.Kind, o *meta.Object, t tree.Tree) *meta.Object {
	if t == nil {
		return nil
	}
	out := &meta.Object{Key: o.Key, Version: o.Version, ItemOffset: k.ItemOffset(), Meta: o.Meta}
	if encoded := codec.EncodeJSON(k, t); o.Version > 0 {
		out.JSON = encoded.WithVersion(o.Version)
	} else { // dry run
		out.JSON = encoded.Unversioned()
	}
	return out
}
