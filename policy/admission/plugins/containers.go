package plugins

import "github.com/troupe-api/troupe/kinds/tree"

// Container lists of a Pod spec, in validation order.
var (
	podContainers = []string{"initContainers", "containers"} // lists that can be set at creation
	allContainers = []string{"initContainers", "containers", "ephemeralContainers"}
)

// eachContainer skips items that are not objects, which validation reports later.
func eachContainer(spec tree.Tree, lists []string, do func(c tree.Tree, list string, i int) bool) {
	for _, list := range lists {
		for i, v := range spec.List(list) {
			if c, ok := v.(tree.Tree); ok && !do(c, list, i) {
				return
			}
		}
	}
}

// appendItem appends to a list of t. The list may be shared, so its capacity is limited to force a
// copy.
func appendItem(t tree.Tree, name string, item any) {
	list := t.List(name)
	t[name] = append(list[:len(list):len(list)], item)
}
