package plugins

import "github.com/troupe-api/troupe/kinds/tree"

// The lists of a Pod's spec that hold containers, in the order in which they are looked at.
var (
	podContainers = []string{"initContainers", "containers"} // those that a Pod is made with
	allContainers = []string{"initContainers", "containers", "ephemeralContainers"}
)

// eachContainer calls do with the containers of some lists of a Pod's spec, and where each is, until it
// returns false. An item that is no object is skipped: validation reports it after admission.
func eachContainer(spec tree.Tree, lists []string, do func(c tree.Tree, list string, i int) bool) {
	for _, list := range lists {
		for i, v := range spec.List(list) {
			if c, ok := v.(tree.Tree); ok && !do(c, list, i) {
				return
			}
		}
	}
}

// appendItem adds an item to a list of t, which others may hold. The capacity is cut, so that append
// copies: admission gets the object before anybody has cloned its lists.
func appendItem(t tree.Tree, name string, item any) {
	list := t.List(name)
	t[name] = append(list[:len(list):len(list)], item)
}
