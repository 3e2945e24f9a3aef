package mutation

import (
	"maps"
	"time"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

func childObject(t tree.Tree, name string) tree.Tree {
	if o, ok := t[name].(tree.Tree); ok {
		return o
	}
	return tree.Tree{}
}

// cloneTop returns t with copies of its top level and metadata, which every mutation writes.
func cloneTop(t tree.Tree) tree.Tree {
	c := make(tree.Tree, len(t)+1)
	maps.Copy(c, t)
	old := childObject(t, "metadata")
	metadata := make(tree.Tree, len(old)+2)
	maps.Copy(metadata, old)
	c["metadata"] = metadata
	return c
}

// copyForWrite returns t with copies of all parts that later steps may modify, because t may share
// memory with the current object. Parts that equal the current object stay shared, unless
// allocation may modify them. They already have their defaults, and admission makes its own copies.
func copyForWrite(cur State, m *request.Mutation, t tree.Tree, env Env) tree.Tree {
	return copyBelowTop(cur, m, cloneTop(t), env)
}

// copyBelowTop is like copyForWrite, but expects a tree whose top level and metadata are already
// copies.
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

// reuseUnchanged replaces parts of want with equal parts of the current state, so that later
// comparisons are cheap. It skips metadata, which differs in every write.
func reuseUnchanged(cur State, want tree.Tree) {
	for name, value := range want {
		if was, there := cur.Tree[name]; name != "metadata" && there && tree.StrictEqual(value, was) {
			want[name] = was
		}
	}
}

func sameList(a, b []any) bool { return tree.SameRef(a, b) || len(a)+len(b) == 0 }

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
