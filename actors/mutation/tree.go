package mutation

import (
	"time"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// childObject returns the object below name, or an empty, unlinked one.
func childObject(t tree.Tree, name string) tree.Tree {
	if o, ok := t[name].(tree.Tree); ok {
		return o
	}
	return tree.Tree{}
}

// cloneTop copies the parts of a tree that mutations write into: the top and metadata.
func cloneTop(t tree.Tree) tree.Tree {
	c := make(tree.Tree, len(t)+1)
	for name, value := range t {
		c[name] = value
	}
	old := childObject(t, "metadata")
	metadata := make(tree.Tree, len(old)+2)
	for name, value := range old {
		metadata[name] = value
	}
	c["metadata"] = metadata
	return c
}

// copyForWrite copies the parts of a tree, which may share memory with the current one, that the
// rest of the mutation writes into. Shared parts are complete and not written again, except by
// allocations, which may write anywhere. Admission copies what it changes.
func copyForWrite(cur State, m *request.Mutation, t tree.Tree, env Env) tree.Tree {
	return copyBelowTop(cur, m, cloneTop(t), env)
}

// copyBelowTop is copyForWrite for a tree that owns its top and metadata already.
func copyBelowTop(cur State, m *request.Mutation, c tree.Tree, env Env) tree.Tree {
	if env.Allocator != nil || m.Kind.Stored != m.Kind || m.Subresource != "" {
		return tree.Clone(c).(tree.Tree)
	}
	for name, value := range c {
		if name != "metadata" && !tree.SameRef(value, cur.Tree[name]) {
			c[name] = tree.Clone(value)
		}
	}
	metadata := childObject(c, "metadata")
	for name, value := range metadata {
		if name != "managedFields" { // its entries are replaced, not changed
			metadata[name] = tree.Clone(value)
		}
	}
	c["metadata"] = metadata
	return c
}

// reuseUnchanged shares equal parts of the current state with want, so that later comparisons are
// cheap. Metadata differs with every write.
func reuseUnchanged(cur State, want tree.Tree) {
	for name, value := range want {
		if was, there := cur.Tree[name]; name != "metadata" && there && tree.StrictEqual(value, was) {
			want[name] = was
		}
	}
}

// sameList reports whether two lists share memory, or are both empty.
func sameList(a, b []any) bool { return tree.SameRef(a, b) || len(a)+len(b) == 0 }

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
