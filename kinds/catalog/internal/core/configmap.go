package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxDataSize bounds the values of a ConfigMap or a Secret together, in bytes.
const maxDataSize = 1 << 20

const immutableMsg = "field is immutable when `immutable` is set"

func configMapRules() schema.Rules {
	return schema.Rules{Validate: validateConfigMap, ValidateUpdate: validateConfigMapUpdate}
}

func validateConfigMap(obj tree.Tree, faults *schema.Faults) {
	data, binary := obj.Object("data"), obj.Object("binaryData")
	size := 0
	for _, key := range data.SortedKeys() {
		path := tree.KeyPath("data", key)
		validateDataKey(key, path, faults)
		if _, both := binary[key]; both {
			faults.Invalid(path, key, "duplicate of key present in binaryData")
		}
		size += len(data.String(key))
	}
	for _, key := range binary.SortedKeys() {
		path := tree.KeyPath("binaryData", key)
		validateDataKey(key, path, faults)
		if _, both := data[key]; both {
			faults.Invalid(path, key, "duplicate of key present in data")
		}
		size += field.DecodedSize(binary.String(key))
	}
	if size > maxDataSize {
		faults.TooLong("[]", maxDataSize)
	}
}

func validateDataKey(key, path string, faults *schema.Faults) {
	for _, msg := range rules.ConfigKey(key) {
		faults.Invalid(path, key, msg)
	}
}

func validateConfigMapUpdate(obj, old tree.Tree, faults *schema.Faults) {
	validateImmutableFlag(obj, old, faults, "data", "binaryData")
}

// validateImmutableFlag keeps the named fields, and the flag itself, once `immutable` is set.
func validateImmutableFlag(obj, old tree.Tree, faults *schema.Faults, names ...string) {
	if !old.Bool("immutable") {
		return
	}
	if !obj.Bool("immutable") {
		faults.Forbidden("immutable", immutableMsg)
	}
	for _, name := range names {
		if !sameEntries(obj.Object(name), old.Object(name)) {
			faults.Forbidden(name, immutableMsg)
		}
	}
}

// sameEntries compares two flat maps. An empty entry differs from an absent one, unlike in
// tree.SemanticEqual.
func sameEntries(a, b tree.Tree) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}
