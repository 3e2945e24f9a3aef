package warning

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/tree"
)

// FractionalBytes is what follows the path of a list of resources in the warning that it has a fraction of a byte
// of one of them; "" if it has not.
func FractionalBytes(amounts tree.Tree, resource string) string {
	text := amounts.String(resource)
	if !quantity.HasFraction(text) {
		return ""
	}
	return fmt.Sprintf("[%s]: fractional byte value %q is invalid, must be an integer", resource, text)
}

// ClaimSizes is what follows the path of the spec of a claim in the warnings of its sizes.
func ClaimSizes(spec tree.Tree) (texts []string) {
	for _, list := range [...]string{"requests", "limits"} {
		if text := FractionalBytes(spec.Object("resources", list), "storage"); text != "" {
			texts = append(texts, ".resources."+list+text)
		}
	}
	return texts
}
