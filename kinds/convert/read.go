package convert

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// DecodeStored decodes stored bytes and applies the current schema of a stored kind. Strings share
// the memory of json.
func DecodeStored(k *schema.Kind, json []byte) (tree.Tree, error) {
	object, err := codec.DecodeStored(k.Message(), json)
	if err != nil || !k.IsCustom() {
		return object, err
	}
	for _, written := range k.Versions { // first apply the version in which it was written
		if written != k && written.APIVersion() == object["apiVersion"] {
			object = applySchema(written, object)
		}
	}
	object = applySchema(k, object)
	if k.Kind != "" { // the CRD is known
		object["kind"], object["apiVersion"] = k.Kind, k.APIVersion()
	}
	return object, nil
}

// applySchema prunes a tree in place and adds the schema's defaults.
func applySchema(k *schema.Kind, object tree.Tree) tree.Tree {
	custom := k.Message().Custom
	object, _ = custom.Prune(object)
	if custom.Coerce != nil {
		if coerced, _, err := custom.Coerce(object, true); err == nil {
			object = coerced
		}
	}
	rules.Default(k, object)
	return object
}

// HasForm reports whether a stored object can be served as kind k without conversion.
func HasForm(k *schema.Kind, o *meta.Object) bool {
	if k.Stored != k && k.ConversionWebhook() == nil {
		return false
	}
	return !k.IsCustom() || o.ConformsTo(k.Origin.Schema.ID())
}

// ToCurrentSchema prunes and defaults a stored object with the current schema of its kind. With a
// conversion webhook, it uses the schema of the version in which the object was written. Objects
// that already conform, and objects of a removed version, are returned unchanged.
func ToCurrentSchema(k *schema.Kind, o *meta.Object) (*meta.Object, error) {
	if !k.IsCustom() || o.ConformsTo(k.Origin.Schema.ID()) {
		return o, nil
	}
	if k.ConversionWebhook() != nil && !IsWrittenAs(k, o) {
		if k = WrittenForm(k, o); k == nil || o.ConformsTo(k.Origin.Schema.ID()) {
			return o, nil
		}
	}
	tree, err := DecodeStored(k, o.JSON)
	if err != nil {
		return nil, fmt.Errorf("stored object %s: %w", o.Key, err)
	}
	json := codec.EncodeJSON(k, tree).WithVersion(o.Version)
	if string(json) == string(o.JSON) {
		o.SetConformsTo(k.Origin.Schema.ID())
		return o, nil
	}
	current, err := codec.NewObject(k, o.Key, o.Version, json)
	if err == nil {
		current.SetConformsTo(k.Origin.Schema.ID())
	}
	return current, err
}
