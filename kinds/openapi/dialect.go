package openapi

// A dialect is one of the two versions of OpenAPI.
//
// The rest of the package asks what the dialect can express, not which version it is, where that is
// possible.
type dialect struct {
	refs     string // where definitions are
	v3       bool   // version 3
	oneOf    bool   // can express alternatives
	defaults bool   // has defaults
	document string // the message of a document
}

var (
	version2 = dialect{refs: "#/definitions/", document: "Document2"}
	version3 = dialect{refs: "#/components/schemas/", v3: true, oneOf: true, defaults: true, document: "Document3"}
)

// ref refers to a definition.
func (d dialect) ref(name string) object { return object{{"$ref", d.refs + name}} }

// refWith refers to a definition and adds members. Version 3 ignores what is beside a reference, so there
// the reference is put into a list of one.
func (d dialect) refWith(name string, more object) object {
	switch {
	case len(more) == 0:
		return d.ref(name)
	case d.v3:
		return more.with("allOf", []any{d.ref(name)})
	}
	return append(d.ref(name), more...)
}
