package schema

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Schema is the schema of a custom kind. It is compiled on demand and may be dropped and compiled
// again, because the compiled form takes many times the memory of its text and most kinds are idle.
type Schema interface {
	// ID identifies the schema. An object records the ID of the schema that it conforms to.
	ID() *meta.SchemaID
	// Message returns the compiled schema. Two calls may return different, equal messages.
	Message() *Message
	// Tree decodes the schema as written in the CustomResourceDefinition; nil if it is empty.
	Tree() tree.Tree
}

// Message returns the structure of the kind's objects, or nil. Callers fetch it once per operation
// and do not keep it: messages of custom kinds are dropped from memory when idle.
func (k *Kind) Message() *Message {
	if k.Origin != nil {
		return k.Origin.Schema.Message()
	}
	return k.Declared
}

// A Custom defines how objects of a custom kind are read. Except for metadata, which has a plan,
// bodies are decoded as they are, and validation finds values of a wrong type.
type Custom struct {
	// SchemaID identifies the schema that the message was compiled from.
	SchemaID *meta.SchemaID
	// Prune returns t without fields that are not in the schema, and their paths. The result
	// shares memory with t, which does not change.
	Prune func(t tree.Tree) (pruned tree.Tree, unknown []string)
	// PruneConfig prunes an apply configuration. Unlike Prune, it keeps fields of objects whose
	// schema is empty, so that their manager owns them; the live object is pruned.
	PruneConfig func(t tree.Tree) (pruned tree.Tree, unknown []string)
	// Coerce normalizes the metadata of embedded objects; nil if the schema has none. unknown
	// lists the paths of dropped fields. Values of a wrong type are dropped too, or are an
	// error.
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
