package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// schemaOf returns a CRD whose schema has the property x.
func schemaOf(x string) string {
	return strings.Replace(definition("", versionV1), anySchema, `"schema":{"openAPIV3Schema":{"type":"object","properties":{"x":`+x+`}}}`, 1)
}

// rootSchema returns a CRD with the schema s and further fields in its version.
func rootSchema(s, more string) string {
	return strings.Replace(storedVersion(more), anySchema, `"schema":{"openAPIV3Schema":`+s+`}`, 1)
}

// atX prefixes faults with the path of the property x.
func atX(faults ...string) []string {
	for i, f := range faults {
		faults[i] = "spec.validation.openAPIV3Schema.properties[x]" + f
	}
	return faults
}

const (
	crdHead   = `"metadata":{"name":"widgets.a.example"},`
	crdSpec   = `"group":"a.example","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"}`
	anySchema = `"schema":{"openAPIV3Schema":{"type":"object"}}`
	versionV1 = `{"name":"v1","served":true,"storage":true,` + anySchema + `}`
)

// definition returns a CRD with versions and further fields in its spec.
func definition(more, versions string) string {
	return `{` + crdHead + `"spec":{` + crdSpec + more + `,"versions":[` + versions + `]}}`
}

// storedVersion returns a CRD with further fields in its only version.
func storedVersion(more string) string {
	return definition("", strings.TrimSuffix(versionV1, "}")+`,`+more+`}`)
}

// definitionKind returns the kind CustomResourceDefinition under a profile.
func definitionKind(t *testing.T, n *meta.Naming) *schema.Kind {
	return KindInGroup(t, n, "apiextensions.platform.io", "CustomResourceDefinition")
}
