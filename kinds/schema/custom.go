package schema

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Custom says how the objects of a custom kind are read. Their bodies are taken as they
// are, but for the metadata, which has its plan: a value of a wrong type is a fault of the object
// like any other, found when it is validated.
type Custom struct {
	// SchemaID is the form that the schema gives to objects, as one that they can remember.
	SchemaID *meta.SchemaID
	// Schema is the schema as the definition has it.
	Schema tree.Tree
	// Prune is a tree without the fields that the schema of the kind does not know, and their
	// paths. It shares with what it is given, which stays as it is.
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
