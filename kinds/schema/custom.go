package schema

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Schema is the schema of a custom kind. It is compiled on demand and may be evicted, because
// most kinds are idle and the compiled form is much larger than the JSON.
type Schema interface {
	// ID identifies the schema. An object records the ID of the schema to which it conforms.
	ID() *meta.SchemaID
	// Message returns the compiled schema. Two calls may return different, but equal messages.
	Message() *Message
	// Tree decodes the schema as written in the CustomResourceDefinition. It returns nil if the
	// schema is empty.
	Tree() tree.Tree
}

// Message returns the structure of the kind's objects, or nil. Callers must not retain it beyond
// one operation, because schemas of idle custom kinds are evicted from memory.
func (k *Kind) Message() *Message {
	if k.Origin != nil {
		return k.Origin.Schema.Message()
	}
	return k.Declared.Message()
}

// A Custom defines how objects of a custom kind are decoded. The decoder checks only the metadata
// against a plan. Validation reports other values of a wrong type.
type Custom struct {
	// SchemaID identifies the schema from which the message was compiled.
	SchemaID *meta.SchemaID
	// Prune returns t without unknown fields, and their paths. It does not change t, but the result
	// shares memory with t.
	Prune func(t tree.Tree) (pruned tree.Tree, unknown []string)
	// PruneConfig prunes an apply configuration. Unlike Prune, it keeps the fields of objects with
	// an empty schema. The field manager owns them, although they are pruned from the live object.
	PruneConfig func(t tree.Tree) (pruned tree.Tree, unknown []string)
	// Coerce normalizes the metadata of embedded objects. It may be nil. unknown lists the dropped
	// fields. Values of a wrong type are dropped if dropMalformed is true, and are otherwise an
	// error.
	Coerce func(t tree.Tree, dropMalformed bool) (coerced tree.Tree, unknown []string, err error)
}

// WholeObject is the path of errors about a whole custom object, as in kube-apiserver.
const WholeObject = "<nil>"

// SubresourceVerbs returns the verbs of a subresource whose declaration lists none.
func SubresourceVerbs() []string { return subresourceVerbs }

// ListKind returns the kind name of k's list, such as "PodList".
func (k *Kind) ListKind() string {
	if k.Names.List != "" {
		return k.Names.List
	}
	return k.Kind + "List"
}
