package custom

import "github.com/troupe-api/troupe/kinds/meta"

// Extensions are the keys of schemas that have the vendor's name in them, in the form of a naming profile, and the formats of text.
type Extensions struct {
	Preserve, Embedded, IntOrString, ListType, ListKeys, MapType, Validations string
	formats                                                                   Formats
}

// NewExtensions are the keys in the form of a naming profile.
//
// The names are part of definitions that users write, so they follow the profile as names of groups do.
func NewExtensions(n *meta.Naming) Extensions {
	return Extensions{
		Preserve:    n.Translate("x-platform-preserve-unknown-fields"),
		Embedded:    n.Translate("x-platform-embedded-resource"),
		IntOrString: n.Translate("x-platform-int-or-string"),
		ListType:    n.Translate("x-platform-list-type"),
		ListKeys:    n.Translate("x-platform-list-map-keys"),
		MapType:     n.Translate("x-platform-map-type"),
		Validations: n.Translate("x-platform-validations"),
		formats:     NewFormats(n),
	}
}
