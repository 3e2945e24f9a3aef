package crd

import "github.com/troupe-api/troupe/kinds/meta"

// Extensions contains a naming profile's string formats, and its schema keywords that contain the
// vendor name.
type Extensions struct {
	Preserve, Embedded, IntOrString, ListType, ListKeys, MapType, Validations string
	formats                                                                   Formats
}

// NewExtensions returns the keywords and formats of a naming profile.
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
