package schema

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Custom says how the objects of a custom kind are read. Except for metadata, which has a plan, bodies are
// decoded as they are: a value of a wrong type is a fault of the object like any other, found when it is
// validated.
type Custom struct {
	// SchemaID identifies the compiled schema. An object remembers that it conforms to it.
	SchemaID *meta.SchemaID
	// Schema is the schema as the definition has it.
	Schema tree.Tree
	// Prune is a tree without the fields that the schema of the kind does not know, and their
	// paths. It shares memory with what it is given, which is not changed.
	Prune func(t tree.Tree) (pruned tree.Tree, unknown []string)
}

// StandardVerbs are the verbs of a kind that has all of them.
func StandardVerbs() []string { return standardVerbs }

// SubresourceVerbs are those of a sub-resource that names none.
func SubresourceVerbs() []string { return subresourceVerbs }

// ListKind is what a list of objects of the kind calls itself.
func (k *Kind) ListKind() string {
	if k.ListKindName != "" {
		return k.ListKindName
	}
	return k.Kind + "List"
}
