package convert

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// FromStored converts a tree of the stored version to kind k, or to its sub-resource sub (nil for none);
// nil if the sub-resource shows nothing. The given tree is not changed; the result may share parts of
// it.
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

// ToStored converts a tree of kind k, which it may change, to the stored version, with the defaults of
// both. Fields that only k knows are still there, so that they can be validated (Keep).
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

// Keep is what the stored version keeps of the stored form of an object of kind k: versions of custom kinds may know
// fields that it does not.
func Keep(k *schema.Kind, t tree.Tree) tree.Tree {
	if k.Conversion == nil {
		return t
	}
	return k.Conversion.Keep(t)
}

// BodyKind is the kind of the bodies of k, or of its sub-resource sub: that of a scale, for one, has a
// kind of its own.
func BodyKind(k *schema.Kind, sub *schema.Subresource) *schema.Kind {
	if sub != nil && sub.BodyKind != nil {
		return sub.BodyKind
	}
	return k
}

// Object converts a stored object to kind k, or to its sub-resource sub; nil if the sub-resource shows
// nothing. An error says that the stored bytes cannot be decoded.
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

// View is what a sub-resource with a kind of its own shows of an object that has been converted to k
// already; nil if it shows nothing.
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

// encode is a tree as an object of kind k, with the key, version and head of o; nil for no tree.
func encode(k *schema.Kind, o *meta.Object, t tree.Tree) *meta.Object {
	if t == nil {
		return nil
	}
	out := &meta.Object{Key: o.Key, Version: o.Version, ItemOffset: k.ItemOffset(), Meta: o.Meta}
	if encoded := codec.EncodeJSON(k, t); o.Version > 0 {
		out.JSON = encoded.WithVersion(o.Version)
	} else { // of a dry run
		out.JSON = encoded.Unversioned()
	}
	return out
}
