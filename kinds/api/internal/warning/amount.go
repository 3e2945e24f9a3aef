package warning

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/tree"
)

// FractionalBytes returns the warning about a fractional amount of a resource, to follow the path
// of the resource list; "" if it is an integer.
func FractionalBytes(amounts tree.Tree, resource string) string {
	text := amounts.String(resource)
	if !quantity.HasFraction(text) {
		return ""
	}
	return fmt.Sprintf("[%s]: fractional byte value %q is invalid, must be an integer", resource, text)
}

// ClaimSizes returns the warnings about the sizes of a claim, to follow the path of its spec.
func ClaimSizes(spec tree.Tree) (texts []string) {
	for _, list := range [...]string{"requests", "limits"} {
		if text := FractionalBytes(spec.Object("resources", list), "storage"); text != "" {
			texts = append(texts, ".resources."+list+text)
		}
	}
	return texts
}
