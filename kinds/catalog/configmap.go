package catalog

import (
	"encoding/base64"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// maxDataSize bounds the values of a ConfigMap or a Secret together, in bytes.
const maxDataSize = 1 << 20

const frozen = "field is immutable when `immutable` is set"

func configMapRules() schema.Rules {
	return schema.Rules{Validate: validateConfigMap, ValidateUpdate: validateConfigMapUpdate}
}

func validateConfigMap(obj schema.Tree, faults *schema.Faults) {
	data, binary := rules.Sub(obj, "data"), rules.Sub(obj, "binaryData")
	size := 0
	for _, key := range rules.Keys(data) {
		path := rules.Key("data", key)
		validateDataKey(key, path, faults)
		if _, both := binary[key]; both {
			faults.Invalid(path, key, "duplicate of key present in binaryData")
		}
		size += len(rules.Text(data, key))
	}
	for _, key := range rules.Keys(binary) {
		path := rules.Key("binaryData", key)
		validateDataKey(key, path, faults)
		if _, both := data[key]; both {
			faults.Invalid(path, key, "duplicate of key present in data")
		}
		size += decodedSize(rules.Text(binary, key))
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

// decodedSize is the number of bytes that base64 text stands for.
func decodedSize(s string) int {
	n := base64.StdEncoding.DecodedLen(len(s))
	for i := len(s); i > 0 && s[i-1] == '='; i-- {
		n--
	}
	return n
}

func validateConfigMapUpdate(obj, old schema.Tree, faults *schema.Faults) {
	validateFrozen(obj, old, faults, "data", "binaryData")
}

// validateFrozen keeps the named fields, and the flag itself, once `immutable` is set.
func validateFrozen(obj, old schema.Tree, faults *schema.Faults, names ...string) {
	if !rules.Flag(old, "immutable") {
		return
	}
	if !rules.Flag(obj, "immutable") {
		faults.Forbidden("immutable", frozen)
	}
	for _, name := range names {
		if !sameEntries(rules.Sub(obj, name), rules.Sub(old, name)) {
			faults.Forbidden(name, frozen)
		}
	}
}

// sameEntries compares two flat maps; unlike elsewhere an empty entry differs from none.
func sameEntries(a, b schema.Tree) bool {
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
