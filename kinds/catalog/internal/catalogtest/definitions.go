package catalogtest

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// SchemaOf is a definition with a schema whose property x is as given.
func SchemaOf(x string) string {
	return strings.Replace(Definition("", V1Version), AnySchema, `"schema":{"openAPIV3Schema":{"type":"object","properties":{"x":`+x+`}}}`, 1)
}

// RootSchema is a definition with a whole schema.
func RootSchema(s, more string) string {
	return strings.Replace(Version(more), AnySchema, `"schema":{"openAPIV3Schema":`+s+`}`, 1)
}

// AtX are faults below the property x; those that begin with "^" stand by themselves.
func AtX(faults ...string) []string {
	for i, f := range faults {
		faults[i] = "spec.validation.openAPIV3Schema.properties[x]" + f
	}
	return faults
}

const (
	crdHead   = `"metadata":{"name":"widgets.a.example"},`
	crdSpec   = `"group":"a.example","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"}`
	AnySchema = `"schema":{"openAPIV3Schema":{"type":"object"}}`
	V1Version = `{"name":"v1","served":true,"storage":true,` + AnySchema + `}`
)

// Definition is one with some more in its spec, and versions.
func Definition(more, versions string) string {
	return `{` + crdHead + `"spec":{` + crdSpec + more + `,"versions":[` + versions + `]}}`
}

// Version is the stored version v1 with more in it.
func Version(more string) string {
	return Definition("", strings.TrimSuffix(V1Version, "}")+`,`+more+`}`)
}

func Definitions(t *testing.T, n *meta.Naming) *schema.Kind {
	return KindInGroup(t, n, "apiextensions.platform.io", "CustomResourceDefinition")
}
