package schema

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Schema is that of a kind which a definition makes. What it compiles to takes many times the memory of its text, and
// most kinds are never asked for, so it is compiled when that is needed, and may be dropped and compiled again.
type Schema interface {
	// ID identifies the schema. An object remembers that it conforms to it.
	ID() *meta.SchemaID
	// Message is the compiled schema. Two calls may return two messages, which are equal.
	Message() *Message
	// Tree is the schema as the definition has it, decoded anew; nil if it says nothing.
	Tree() tree.Tree
}

// Message is the structure of the objects of the kind; nil if it has none. Whoever works on an object asks once, and
// does not keep it any longer: that of a custom kind is only as long in memory as it is used.
func (k *Kind) Message() *Message {
	if k.Origin != nil {
		return k.Origin.Schema.Message()
	}
	return k.Declared
}

// A Custom says how the objects of a custom kind are read. Except for metadata, which has a plan, bodies are
// decoded as they are: a value of a wrong type is a fault of the object like any other, found when it is
// validated.
type Custom struct {
	// SchemaID is that of the schema which the message was compiled from.
	SchemaID *meta.SchemaID
	// Prune is a tree without the fields that the schema of the kind does not know, and their
	// paths. It shares memory with what it is given, which is not changed.
	Prune func(t tree.Tree) (pruned tree.Tree, unknown []string)
	// PruneConfig is Prune for a configuration to apply. It keeps the fields of objects of which the schema says nothing,
	// which then belong to who applies them; what they are applied to is pruned.
	PruneConfig func(t tree.Tree) (pruned tree.Tree, unknown []string)
	// Coerce brings the metadata of objects that are embedded in others into its form; nil: there are none. unknown are
	// the paths of fields that it dropped. What has the wrong type is dropped too, or is an error.
	Coerce func(t tree.Tree, dropMalformed bool) (coerced tree.Tree, unknown []string, err error)
}

// WholeObject is where the faults of a custom object as a whole are: the word that clients know.
const WholeObject = "<nil>"

// SubresourceVerbs are those of a sub-resource that names none.
func SubresourceVerbs() []string { return subresourceVerbs }

// ListKind is what a list of objects of the kind calls itself.
func (k *Kind) ListKind() string {
	if k.Names.List != "" {
		return k.Names.List
	}
	return k.Kind + "List"
}
