package convert

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Objects of custom kinds are stored as they were written, whatever becomes of their definition.
// What their schema says today, what it drops and what it fills in, counts when they are read.

// Read is the tree of stored bytes in the form of a stored kind. Its texts share the memory of json.
func Read(k *schema.Kind, json []byte) (schema.Tree, error) {
	tree, err := codec.DecodeStored(k.Message, json)
	if err != nil || !k.Custom() {
		return tree, err
	}
	for _, written := range k.Forms { // first what the version says in which it was written
		if written != k && written.APIVersion() == tree["apiVersion"] {
			tree = shaped(written, tree)
		}
	}
	tree = shaped(k, tree)
	if k.Kind != "" { // of a known definition
		tree["kind"], tree["apiVersion"] = k.Kind, k.APIVersion()
	}
	return tree, nil
}

// shaped is a tree, which it may change, without what a schema drops, and with what it fills in.
func shaped(k *schema.Kind, tree schema.Tree) schema.Tree {
	tree, _ = k.Message.Custom.Prune(tree)
	rules.Default(k, tree)
	return tree
}

// Current is a stored object in the form of its kind, a stored one: the object itself if that is
// the form that it has.
func Current(k *schema.Kind, o *meta.Object) (*meta.Object, error) {
	if !k.Custom() || o.InForm(k.Message.Custom.Form) {
		return o, nil
	}
	tree, err := Read(k, o.JSON)
	if err != nil {
		return nil, fmt.Errorf("stored object %s: %w", o.Key, err)
	}
	json := codec.EncodeJSON(k, tree).WithVersion(o.Version)
	if string(json) == string(o.JSON) {
		o.SetForm(k.Message.Custom.Form)
		return o, nil
	}
	now, err := codec.NewObject(k, o.Key, o.Version, json)
	if err == nil {
		now.SetForm(k.Message.Custom.Form)
	}
	return now, err
}
