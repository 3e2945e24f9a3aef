package warning

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// FractionalBytes is what follows the path of a list of resources in the warning that it has a fraction of a byte
// of one of them; "" if it has not.
func FractionalBytes(amounts tree.Tree, resource string) string {
	q := amounts.String(resource)
	if !isFractional(q) {
		return ""
	}
	return fmt.Sprintf("[%s]: fractional byte value %q is invalid, must be an integer", resource, q)
}

// isFractional tells whether a quantity has a fraction. It reads the suffix of its canonical form, in
// which objects hold quantities: a fraction has a small unit or a negative exponent, and nothing else has.
func isFractional(q string) bool {
	if q == "" {
		return false
	}
	switch q[len(q)-1] {
	case 'm', 'u', 'n':
		return true
	}
	return strings.Contains(q, "e-")
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
