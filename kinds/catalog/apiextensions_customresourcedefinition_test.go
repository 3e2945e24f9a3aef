package catalog_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const (
	crdHead   = `"metadata":{"name":"widgets.a.example"},`
	crdSpec   = `"group":"a.example","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"}`
	anySchema = `"schema":{"openAPIV3Schema":{"type":"object"}}`
	v1        = `{"name":"v1","served":true,"storage":true,` + anySchema + `}`
)

// definition is one with some more in its spec, and versions.
func definition(more, versions string) string {
	return `{` + crdHead + `"spec":{` + crdSpec + more + `,"versions":[` + versions + `]}}`
}

// version is the stored version v1 with more in it.
func version(more string) string {
	return definition("", strings.TrimSuffix(v1, "}")+`,`+more+`}`)
}

func definitions(t *testing.T, n *meta.Naming) *schema.Kind {
	return kindInGroup(t, n, "apiextensions.platform.io", "CustomResourceDefinition")
}

func TestDefinition(t *testing.T) {
	swap := func(old, now string) string { return strings.Replace(definition("", v1), old, now, 1) }
	runValidationCases(t, definitions(t, meta.Kubernetes), []validationCase{
		{obj: definition("", v1)},
		{obj: swap("widgets.a.example", "other.a.example"), want: []string{`metadata.name: Invalid value: "other.a.example": must be spec.names.plural+"."+spec.group`}},
		{obj: strings.ReplaceAll(definition("", v1), "a.example", "example"), want: []string{`spec.group: Invalid value: "example": should be a domain with at least one dot`}},
		{obj: strings.ReplaceAll(definition("", v1), "a.example", "k8s.io"), want: []string{`spec.group: Invalid…`, `metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io"`}[1:]},
		{obj: strings.ReplaceAll(strings.Replace(definition("", v1), `"name":"widgets.a.example"`, `"name":"widgets.a.example","annotations":{"api-approved.kubernetes.io":"me"}`, 1), "a.example", "a.kubernetes.io"),
			want: []string{`metadata.annotations[api-approved.kubernetes.io]: Invalid value: "me": protected groups…`}},
		{obj: strings.Replace(swap(`"group":"a.example",`, ``), "widgets.a.example", "widgets.a", 1), want: []string{`metadata.name: Invalid value: "widgets.a": must be spec.names…`, `spec.group: Required value`}},
		{obj: swap(`"Namespaced"`, `"World"`), want: []string{`spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"`}},
		{obj: swap(`"scope":"Namespaced",`, ``), want: []string{`spec.scope: Required value`}},
		{obj: definition(`,"preserveUnknownFields":true`, v1), want: []string{`spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead`}},
		{obj: swap(`"kind":"Widget"`, `"kind":"Wid_get","singular":"W","listKind":"Wid_get","shortNames":["w","W"],"categories":["A"]`), want: []string{
			`spec.names.singular: Invalid value: "W": a DNS-1035…`, `spec.names.kind: Invalid value: "Wid_get": may have mixed case, but should otherwise match: a DNS-1035…`,
			`spec.names.listKind: Invalid value: "Wid_get": may have mixed case…`, `spec.names.shortNames[1]: Invalid value: "W": a DNS-1035…`,
			`spec.names.categories[0]: Invalid value: "A": a DNS-1035…`, `spec.names.listKind: Invalid value: "Wid_get": kind and listKind may not be the same`}},
		{obj: swap(`,"kind":"Widget"`, ``), want: []string{`spec.names.singular: Required value`, `spec.names.kind: Required value`, `spec.names.listKind: Required value`}},
	})
}

func TestDefinitionConversion(t *testing.T) {
	conversion := func(s string) string { return definition(`,"conversion":{`+s+`}`, v1) }
	runValidationCases(t, definitions(t, meta.Platform), []validationCase{
		{obj: conversion(`"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://h"},"conversionReviewVersions":["v1"]}`), want: []string{`spec.conversion.strategy: Forbidden: conversion by a webhook is not supported…`}},
		{obj: conversion(`"strategy":"Magic"`), want: []string{`spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"`}},
		{obj: conversion(`"strategy":"Webhook"`), want: []string{`spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook`,
			`spec.conversion.conversionReviewVersions: Required value: must specify one of v1, v1beta1`}},
		{obj: conversion(`"strategy":"None","webhook":{"clientConfig":{},"conversionReviewVersions":["v1"]}`), want: []string{
			`spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook`, `spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook`}},
		{obj: conversion(`"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://h","caBundle":"AA=="},"conversionReviewVersions":["v9"]}`), want: []string{
			`spec.conversion.webhookClientConfig.caBundle: Invalid value: "AA==": unable to load root certificates: unable to parse bytes as PEM block`,
			`spec.conversion.conversionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1`}},
	})
}

func TestDefinitionVersions(t *testing.T) {
	second := func(more string) string {
		return definition("", v1+`,{"name":"v2","served":true,"storage":false,`+more+anySchema+`}`)
	}
	columns := func(s string) string { return version(`"additionalPrinterColumns":[{` + s + `}]`) }
	scale := func(s string) string { return version(`"subresources":{"scale":{` + s + `}}`) }
	runValidationCases(t, definitions(t, meta.Platform), []validationCase{
		{obj: second(``)},
		{obj: definition("", ""), want: []string{`status.storedVersions: Invalid value: []: must have at least one stored version`, `spec.versions: Invalid value: []: must have exactly one version marked as storage version`}},
		{obj: definition("", v1+","+v1), want: []string{`spec.versions: Invalid value: [{…`, `spec.versions: Invalid value: [{…`}},
		{obj: strings.Replace(definition("", v1), `"name":"v1"`, `"name":"1"`, 1), want: []string{`spec.versions[0].name: Invalid value: "1": a DNS-1035…`}},
		{obj: strings.Replace(definition("", v1), anySchema, `"schema":null`, 1), want: []string{`spec.versions[0].schema.openAPIV3Schema: Required value`}},
		{obj: version(`"deprecated":true,"deprecationWarning":"old"`)},
		{obj: version(`"deprecationWarning":"old"`), want: []string{`spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions`}},
		{obj: version(`"deprecated":true,"deprecationWarning":""`), want: []string{`spec.versions[0].deprecationWarning: Invalid value: "": must be nonempty`}},
		{obj: version(`"deprecated":true,"deprecationWarning":"a\nb"`), want: []string{`spec.versions[0].deprecationWarning: Invalid value: "a\nb": must only contain printable UTF-8 characters; non-printable character found at index 1`}},
		{obj: version(`"deprecated":true,"deprecationWarning":"` + strings.Repeat("a", 257) + `"`), want: []string{`spec.versions[0].deprecationWarning: Invalid value: …`}},
		{obj: columns(`"name":"a","type":"integer","format":"int32","jsonPath":".spec.a"`)},
		{obj: columns(``), want: []string{`spec.additionalPrinterColumns[0].name: Required value`, `spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string`,
			`spec.additionalPrinterColumns[0].jsonPath: Required value`}},
		{obj: columns(`"name":"a","type":"array","format":"uuid","jsonPath":"spec"`), want: []string{`spec.additionalPrinterColumns[0].type: Invalid value: "array": must be one of boolean,date,integer,number,string`,
			`spec.additionalPrinterColumns[0].format: Invalid value: "uuid": must be one of byte,date,date-time,double,float,int32,int64,password`,
			`spec.additionalPrinterColumns[0].jsonPath: Invalid value: "spec": must be a simple json path starting with .`}},
		{name: "only the second", obj: second(`"additionalPrinterColumns":[{"type":"string","jsonPath":".a"}],`), want: []string{`spec.versions[1].additionalPrinterColumns[0].name: Required value`}},
		{obj: scale(`"specReplicasPath":".spec.n","statusReplicasPath":".status.n","labelSelectorPath":".status.s"`)},
		{obj: scale(``), want: []string{`spec.subresources.scale.specReplicasPath: Required value`, `spec.subresources.scale.statusReplicasPath: Required value`}},
		{obj: scale(`"specReplicasPath":".n","statusReplicasPath":"status.n","labelSelectorPath":".s"`), want: []string{`spec.subresources.scale.specReplicasPath: Invalid value: ".n": should be a json path under .spec`,
			`spec.subresources.scale.statusReplicasPath: Invalid value: "status.n": must be a simple json path starting with .`,
			`spec.subresources.scale.labelSelectorPath: Invalid value: ".s": should be a json path under either .spec or .status`}},
	})
}

func TestSelectableFields(t *testing.T) {
	const props = `"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"}}}}}}`
	fields := func(s string) string {
		return strings.Replace(version(`"selectableFields":[`+s+`]`), anySchema, props, 1)
	}
	runValidationCases(t, definitions(t, meta.Platform), []validationCase{
		{obj: fields(`{"jsonPath":".spec.a"}`)},
		{obj: fields(`{"jsonPath":".spec.a"},{"jsonPath":".spec.a"},{},{"jsonPath":".spec.b"},{"jsonPath":".spec.c"},{"jsonPath":".metadata.name"},{"jsonPath":".spec.l[0]"}`), want: []string{
			`spec.selectableFields[1].jsonPath: Duplicate value: ".spec.a"`, `spec.selectableFields[2].jsonPath: Required value`,
			`spec.selectableFields[3].jsonPath: Invalid value: ".spec.b": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.`,
			`spec.selectableFields[4].jsonPath: Invalid value: ".spec.c": is an invalid path: does not refer to a valid field`,
			`spec.selectableFields[5].jsonPath: Invalid value: ".metadata.name": must not point to fields in metadata`,
			`spec.selectableFields[6].jsonPath: Invalid value: ".spec.l[0]": is an invalid path: …`}},
		{obj: fields(strings.TrimSuffix(strings.Repeat(`{"jsonPath":".spec.a"},`, 9), ",")), want: []string{`spec.selectableFields: Too many: 9: must have at most 8 items`,
			"spec…", "spec…", "spec…", "spec…", "spec…", "spec…", "spec…", "spec…"}},
	})
}

func TestDefinitionLifecycle(t *testing.T) {
	k := definitions(t, meta.Platform)
	old := named(k, parseTree(t, definition("", v1)))
	old["status"] = parseTree(t, `{"storedVersions":["v0"]}`)
	expect(t, "create", create(k, old), nil)
	equalJSON(t, "names", old.Object("spec")["names"], `{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"}`)
	equalJSON(t, "conversion", old.Object("spec")["conversion"], `{"strategy":"None"}`)
	equalJSON(t, "status", old["status"], `{"storedVersions":["v1"]}`)

	v2 := strings.Replace(v1, "v1", "v2", 1)
	now := named(k, parseTree(t, definition("", strings.Replace(v1, `"storage":true`, `"storage":false`, 1)+","+v2)))
	expect(t, "another storage", update(k, now, old), nil)
	equalJSON(t, "status", now["status"], `{"storedVersions":["v1","v2"]}`)
	gone := named(k, parseTree(t, definition("", v2)))
	expect(t, "stored version removed", update(k, gone, now), []string{`status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version…`})

	forgotten := tree.Clone(now).(tree.Tree)
	forgotten["status"] = parseTree(t, `{"storedVersions":["v1"],"acceptedNames":{"plural":"A","kind":""}}`)
	expect(t, "status", lines(rules.Validate(k, forgotten)), []string{`status.acceptedNames.plural: Invalid value: "A": a DNS-1035…`, `status.storedVersions: Invalid value: ["v1"]: must have the storage version v2`})
}

func TestDefinitionUpdate(t *testing.T) {
	k := definitions(t, meta.Platform)
	for _, established := range []bool{false, true} {
		old, now := named(k, parseTree(t, definition("", v1))), named(k, parseTree(t, definition("", v1)))
		create(k, old)
		want := []string{`spec.group: Invalid value: "b.example": field is immutable`, `spec.names.plural: Invalid value: "gadgets": field is immutable`}
		if established {
			old["status"] = parseTree(t, `{"storedVersions":["v1"],"conditions":[{"type":"Established","status":"True"}]}`)
			want = append([]string{`spec.scope: Invalid value: "Cluster": field is immutable`, `spec.names.kind: Invalid value: "Gadget": field is immutable`}, want...)
		}
		spec := now.Object("spec")
		spec["group"], spec["scope"] = "b.example", "Cluster"
		spec.Object("names")["kind"], spec.Object("names")["plural"] = "Gadget", "gadgets"
		expect(t, "update", lines(rules.ValidateUpdate(k, now, old)), want)
	}
}
