package convert

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Shown is a tree of the stored form as kind k, or its sub-resource sub (nil for none),
// shows it; nil if the sub-resource shows nothing. The tree that is given stays as it is;
// the result may share with it.
func Shown(k *schema.Kind, sub *schema.Subresource, t schema.Tree) schema.Tree {
	if sub != nil && sub.Speaks != nil {
		if sub.View.Read == nil {
			return nil
		}
		return sub.View.Read(t)
	}
	if k.Stored == k {
		return t
	}
	return k.Conversion.FromStored(rules.Clone(t).(schema.Tree))
}

// ToStored is a tree of kind k, which it may change, in the stored form, with the defaults
// of both.
func ToStored(k *schema.Kind, t schema.Tree) schema.Tree {
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

// Speaker is the kind that k, or its sub-resource sub, speaks.
func Speaker(k *schema.Kind, sub *schema.Subresource) *schema.Kind {
	if sub != nil && sub.Speaks != nil {
		return sub.Speaks
	}
	return k
}

// Object is a stored object as kind k, or its sub-resource sub, shows it; nil if the
// sub-resource shows nothing. Errors say that the stored bytes are not what they should be.
func Object(k *schema.Kind, sub *schema.Subresource, o *meta.Object) (*meta.Object, error) {
	speaker := Speaker(k, sub)
	if speaker == k.Stored {
		return Current(speaker, o)
	}
	tree, err := Read(k.Stored, o.JSON)
	if err != nil {
		return nil, fmt.Errorf("stored object %s: %w", o.Key, err)
	}
	shown := Shown(k, sub, tree)
	if shown == nil {
		return nil, nil
	}
	out := &meta.Object{Key: o.Key, Version: o.Version, Item: speaker.Item, Head: o.Head}
	if encoded := codec.EncodeJSON(speaker, shown); o.Version > 0 {
		out.JSON = encoded.WithVersion(o.Version)
	} else { // of a dry run
		out.JSON = encoded.Unversioned()
	}
	return out, nil
}
