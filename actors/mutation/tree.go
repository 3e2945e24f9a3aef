package mutation

import (
	"time"

	"github.com/troupe-api/troupe/kinds/schema"
)

// object is the object below name; an empty one that is not linked if there is none.
func object(t schema.Tree, name string) schema.Tree {
	if o, ok := t[name].(schema.Tree); ok {
		return o
	}
	return schema.Tree{}
}

// cloneTop copies a tree as far as mutations write into it: the top and metadata.
func cloneTop(t schema.Tree) schema.Tree {
	c := make(schema.Tree, len(t)+1)
	for name, value := range t {
		c[name] = value
	}
	old := object(t, "metadata")
	metadata := make(schema.Tree, len(old)+2)
	for name, value := range old {
		metadata[name] = value
	}
	c["metadata"] = metadata
	return c
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
