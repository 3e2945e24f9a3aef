package custom

import "github.com/troupe-api/troupe/kinds/meta"

// Keys are the keys of schemas that bear the vendor's name, in the form of a profile.
type Keys struct {
	Preserve, Embedded, IntOrString, ListType, ListKeys, MapType, Validations string
}

// NewKeys are those of a profile.
func NewKeys(n *meta.Naming) Keys {
	return Keys{
		Preserve:    n.Name("x-platform-preserve-unknown-fields"),
		Embedded:    n.Name("x-platform-embedded-resource"),
		IntOrString: n.Name("x-platform-int-or-string"),
		ListType:    n.Name("x-platform-list-type"),
		ListKeys:    n.Name("x-platform-list-map-keys"),
		MapType:     n.Name("x-platform-map-type"),
		Validations: n.Name("x-platform-validations"),
	}
}
