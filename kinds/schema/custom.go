package schema

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Schema is the schema of a custom kind. It is compiled on demand and may be dropped and compiled
// again: the compiled form is many times larger than its text, and most kinds are idle.
type Schema interface {
	// ID identifies the schema. An object records the ID of the schema that it conforms to.
	ID() *meta.SchemaID
	// Message returns the compiled schema. Two calls may return different, equal messages.
	Message() *Message
	// Tree decodes the schema as written in the CustomResourceDefinition; nil if it is empty.
	Tree() tree.Tree
}

// Message returns the structure of the kind's objects, or nil. Callers must not keep it beyond an
// operation, since idle custom kinds are dropped from memory.
func (k *Kind) Message() *Message {
	if k.Origin != nil {
		return k.Origin.Schema.Message()
	}
	return k.Declared
}

// A Custom defines how objects of a custom kind are read. Except for metadata, bodies are decoded
// as they are, and validation finds values of a wrong type.
type Custom struct {
	// SchemaID identifies the schema that the message was compiled from.
	SchemaID *meta.SchemaID
	// Prune returns t without unknown fields, and their paths. The result shares memory with t,
	// which does not change.
	Prune func(t tree.Tree) (pruned tree.Tree, unknown []string)
	// PruneConfig prunes an apply configuration. It keeps fields of objects with an empty
	// schema, so that their manager owns them; the live object is pruned.
	PruneConfig func(t tree.Tree) (pruned tree.Tree, unknown []string)
	// Coerce normalizes the metadata of embedded objects; it may be nil. unknown lists dropped
	// fields. Values of a wrong type are dropped too, or are an error.
	Coerce func(t tree.Tree, dropMalformed bool) (coerced tree.Tree, unknown []string, err error)
}

// WholeObject is the path of faults of a whole custom object, as in kube-apiserver.
const WholeObject = "<nil>"

// SubresourceVerbs returns the verbs of a subresource that declares none.
func SubresourceVerbs() []string { return subresourceVerbs }

// ListKind returns the kind of lists of k.
func (k *Kind) ListKind() string {
	if k.Names.List != "" {
		return k.Names.List
	}
	return k.Kind + "List"
}
