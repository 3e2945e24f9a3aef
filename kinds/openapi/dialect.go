package openapi

// A dialect describes one of the two OpenAPI versions. Where possible, code checks a capability
// instead of the version.
type dialect struct {
	refs     string // prefix of references to definitions
	v3       bool   // version 3
	oneOf    bool   // can express alternatives
	defaults bool   // has defaults
	document string // the message of a document
}

var (
	version2 = dialect{refs: "#/definitions/", document: "Document2"}
	version3 = dialect{refs: "#/components/schemas/", v3: true, oneOf: true, defaults: true, document: "Document3"}
)

func (d dialect) ref(name string) object { return object{{"$ref", d.refs + name}} }

// refWith returns a reference with additional keywords. In version 3, which ignores siblings of
// $ref, it wraps the reference in allOf.
func (d dialect) refWith(name string, more object) object {
	switch {
	case len(more) == 0:
		return d.ref(name)
	case d.v3:
		return more.with("allOf", []any{d.ref(name)})
	}
	return append(d.ref(name), more...)
}
