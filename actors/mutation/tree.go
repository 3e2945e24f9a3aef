package mutation

import (
	"time"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// childObject is the object below name; an empty one that is not linked if there is none.
func childObject(t tree.Tree, name string) tree.Tree {
	if o, ok := t[name].(tree.Tree); ok {
		return o
	}
	return tree.Tree{}
}

// cloneTop copies a tree as far as mutations write into it: the top and metadata.
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

// copyForWrite copies a tree that may share parts with the current one, as far as the rest of the mutation
// writes into it. The shared parts are complete already and are not written again, except by
// allocations, which may write anywhere. Admissions copy what they change.
func copyForWrite(cur State, m *request.Mutation, t tree.Tree, env Env) tree.Tree {
	return copyBelowTop(cur, m, cloneTop(t), env)
}

// copyBelowTop is copyForWrite for a tree whose top and metadata are the mutation's own already.
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
		if name != "managedFields" { // whose entries are replaced, not changed
			metadata[name] = tree.Clone(value)
		}
	}
	c["metadata"] = metadata
	return c
}

// reuseUnchanged gives want the very parts of the current state that it equals, so that later
// comparisons see at once that they are the same. Metadata differs with every write.
func reuseUnchanged(cur State, want tree.Tree) {
	for name, value := range want {
		if was, there := cur.Tree[name]; name != "metadata" && there && tree.StrictEqual(value, was) {
			want[name] = was
		}
	}
}

// sameList tells whether two lists are one in memory, or both empty.
func sameList(a, b []any) bool { return tree.SameRef(a, b) || len(a)+len(b) == 0 }

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
