package plugins

import (
	"iter"

	"github.com/troupe-api/troupe/kinds/tree"
)

// Container lists of a Pod spec, in validation order.
var (
	podContainers = []string{"initContainers", "containers"} // lists that can be set at creation
	allContainers = []string{"initContainers", "containers", "ephemeralContainers"}
)

// containers returns the containers of a Pod spec with the names of their lists. It skips items
// that are not objects, which validation reports later.
func containers(spec tree.Tree, lists ...string) iter.Seq2[string, tree.Tree] {
	return func(yield func(string, tree.Tree) bool) {
		for _, list := range lists {
			for _, v := range spec.List(list) {
				if c, ok := v.(tree.Tree); ok && !yield(list, c) {
					return
				}
			}
		}
	}
}

// appendItem appends to a list of t. It limits the capacity to force a copy, because the list may
// be shared.
func appendItem(t tree.Tree, name string, item any) {
	list := t.List(name)
	t[name] = append(list[:len(list):len(list)], item)
}
