package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxDataSize bounds the values of a ConfigMap or a Secret together, in bytes. Both are read whole into
// memory by every client that watches them, and by each kubelet that mounts them, so they stay small.
// Values count as decoded: base64 does not reduce what fits into a Secret.
const maxDataSize = 1 << 20

const immutableMsg = "field is immutable when `immutable` is set"

// configMapStrategy leaves the syntax of keys to the declaration of the kind; only what spans
// several fields is here.
type configMapStrategy struct{ schema.DefaultStrategy }

// Validate checks that each key is in one of data and binaryData only. Both become files of the
// same directory when the ConfigMap is mounted, so a key in both would name one file with two
// contents. The two are reported from both sides, each with its own path.
func (configMapStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	data, binary := obj.Object("data"), obj.Object("binaryData")
	size := 0
	for _, key := range data.SortedKeys() {
		path := tree.KeyPath("data", key)
		if _, both := binary[key]; both {
			faults.Invalid(path, key, "duplicate of key present in binaryData")
		}
		size += len(data.String(key))
	}
	for _, key := range binary.SortedKeys() {
		path := tree.KeyPath("binaryData", key)
		if _, both := data[key]; both {
			faults.Invalid(path, key, "duplicate of key present in data")
		}
		size += field.DecodedSize(binary.String(key))
	}
	// The size is a fault of the object, not of a field. "[]" is how clients know the empty path.
	if size > maxDataSize {
		faults.TooLong("[]", maxDataSize)
	}
}

// ValidateUpdate covers binaryData too, which a Secret does not have.
func (configMapStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	validateImmutableFlag(obj, old, faults, "data", "binaryData")
}

// validateImmutableFlag keeps the named fields, and the flag itself, once `immutable` is set. Kubelets stop
// watching what is immutable, which is the point of the flag in large clusters. A change would therefore
// never reach running Pods, so the only way out is to delete the object and create it anew.
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
// tree.SemanticEqual. The difference matters here: adding an empty file to a mounted directory is a change.
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
