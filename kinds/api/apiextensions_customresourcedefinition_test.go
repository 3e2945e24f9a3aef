package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestDefinition(t *testing.T) {
	swap := func(old, now string) string {
		return strings.Replace(definition("", versionV1), old, now, 1)
	}
	RunValidationCases(t, definitionKind(t, meta.Kubernetes), []ValidationCase{
		{Obj: definition("", versionV1)},
		{Obj: swap("widgets.a.example", ""), Want: []string{`metadata.name: Required value: name or generateName is required`}},
		{Obj: swap("widgets.a.example", "other.a.example"), Want: []string{`metadata.name: Invalid value: "other.a.example": must be spec.names.plural+"."+spec.group`}},
		{Obj: strings.ReplaceAll(definition("", versionV1), "a.example", "example"), Want: []string{`spec.group: Invalid value: "example": should be a domain with at least one dot`}},
		{Obj: strings.ReplaceAll(definition("", versionV1), "a.example", "k8s.io"), Want: []string{`spec.group: Invalid…`, `metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111`}[1:]},
		{Obj: strings.ReplaceAll(strings.Replace(definition("", versionV1), `"name":"widgets.a.example"`, `"name":"widgets.a.example","annotations":{"api-approved.kubernetes.io":"me"}`, 1), "a.example", "a.kubernetes.io"),
			Want: []string{`metadata.annotations[api-approved.kubernetes.io]: Invalid value: "me": protected groups…`}},
		{Obj: strings.Replace(swap(`"group":"a.example",`, ``), "widgets.a.example", "widgets.a", 1), Want: []string{`metadata.name: Invalid value: "widgets.a": must be spec.names…`, `spec.group: Required value`}},
		{Obj: swap(`"Namespaced"`, `"World"`), Want: []string{`spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"`}},
		{Obj: swap(`"scope":"Namespaced",`, ``), Want: []string{`spec.scope: Required value`}},
		{Obj: definition(`,"preserveUnknownFields":true`, versionV1), Want: []string{`spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead`}},
		{Obj: swap(`"kind":"Widget"`, `"kind":"Wid_get","singular":"W","listKind":"Wid_get","shortNames":["w","W"],"categories":["A"]`), Want: []string{
			`spec.names.singular: Invalid value: "W": a DNS-1035…`, `spec.names.kind: Invalid value: "Wid_get": may have mixed case, but should otherwise match: a DNS-1035…`,
			`spec.names.listKind: Invalid value: "Wid_get": may have mixed case…`, `spec.names.shortNames[1]: Invalid value: "W": a DNS-1035…`,
			`spec.names.categories[0]: Invalid value: "A": a DNS-1035…`, `spec.names.listKind: Invalid value: "Wid_get": kind and listKind may not be the same`}},
		{Obj: swap(`,"kind":"Widget"`, ``), Want: []string{`spec.names.singular: Required value`, `spec.names.kind: Required value`, `spec.names.listKind: Required value`}},
	})
}

func TestDefinitionConversion(t *testing.T) {
	conversion := func(s string) string { return definition(`,"conversion":{`+s+`}`, versionV1) }
	RunValidationCases(t, definitionKind(t, meta.Platform), []ValidationCase{
		{Obj: conversion(`"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://h"},"conversionReviewVersions":["v1"]}`)},
		{Obj: conversion(`"strategy":"Magic"`), Want: []string{`spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"`}},
		{Obj: conversion(``), Want: []string{`spec.conversion.strategy: Required value`}},
		{Obj: conversion(`"strategy":"","webhook":{"conversionReviewVersions":["v1"]}`), Want: []string{`spec.conversion.strategy: Required value`,
			`spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook`}},
		{Obj: conversion(`"strategy":"Webhook"`), Want: []string{`spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook`,
			`spec.conversion.conversionReviewVersions: Required value`}},
		{Obj: conversion(`"strategy":"None","webhook":{"clientConfig":{},"conversionReviewVersions":["v1"]}`), Want: []string{
			`spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook`, `spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook`}},
		{Obj: conversion(`"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://h","caBundle":"AA=="},"conversionReviewVersions":["v9"]}`), Want: []string{
			`spec.conversion.conversionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1`}},
	})
}

func TestDefinitionVersions(t *testing.T) {
	second := func(more string) string {
		return definition("", versionV1+`,{"name":"v2","served":true,"storage":false,`+more+anySchema+`}`)
	}
	columns := func(s string) string { return storedVersion(`"additionalPrinterColumns":[{` + s + `}]`) }
	scale := func(s string) string { return storedVersion(`"subresources":{"scale":{` + s + `}}`) }
	RunValidationCases(t, definitionKind(t, meta.Platform), []ValidationCase{
		{Obj: second(``)},
		{Obj: definition("", ""), Want: []string{`status.storedVersions: Invalid value: null: must have at least one stored version`, `spec.versions: Invalid value: []: must have exactly one version marked as storage version`}},
		{Obj: definition("", versionV1+","+versionV1), Want: []string{`spec.versions: Invalid value: [{…`, `spec.versions: Invalid value: [{…`}},
		{Obj: strings.Replace(definition("", versionV1), `"name":"v1"`, `"name":"1"`, 1), Want: []string{`spec.versions[0].name: Invalid value: "1": a DNS-1035…`, `spec.version: Invalid value: "1": a DNS-1035…`}},
		{Obj: strings.Replace(definition("", versionV1), anySchema, `"schema":null`, 1), Want: []string{`spec.versions[0].schema.openAPIV3Schema: Required value`}},
		{Obj: storedVersion(`"deprecated":true,"deprecationWarning":"old"`)},
		{Obj: storedVersion(`"deprecationWarning":"old"`), Want: []string{`spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions`}},
		{Obj: storedVersion(`"deprecated":true,"deprecationWarning":""`), Want: []string{`spec.versions[0].deprecationWarning: Invalid value: "": must not be an empty string`}},
		{Obj: storedVersion(`"deprecated":true,"deprecationWarning":"a\nb"`), Want: []string{`spec.versions[0].deprecationWarning: Invalid value: "a\nb": must only contain printable UTF-8 characters; non-printable character found at index 1`}},
		{Obj: storedVersion(`"deprecated":true,"deprecationWarning":"` + strings.Repeat("a", 257) + `"`), Want: []string{`spec.versions[0].deprecationWarning: Invalid value: …`}},
		{Obj: columns(`"name":"a","type":"integer","format":"int32","jsonPath":".spec.a"`)},
		{Obj: columns(``), Want: []string{`spec.additionalPrinterColumns[0].name: Required value`, `spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string`,
			`spec.additionalPrinterColumns[0].JSONPath: Required value`}},
		{Obj: columns(`"name":"a","type":"array","format":"uuid","jsonPath":"spec"`), Want: []string{`spec.additionalPrinterColumns[0].type: Invalid value: "array": must be one of boolean,date,integer,number,string`,
			`spec.additionalPrinterColumns[0].format: Invalid value: "uuid": must be one of byte,date,date-time,double,float,int32,int64,password`,
			`spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .`}},
		{Name: "only the second", Obj: second(`"additionalPrinterColumns":[{"type":"string","jsonPath":".a"}],`), Want: []string{`spec.versions[1].additionalPrinterColumns[0].name: Required value`}},
		{Obj: scale(`"specReplicasPath":".spec.n","statusReplicasPath":".status.n","labelSelectorPath":".status.s"`)},
		{Obj: scale(``), Want: []string{`spec.subresources.scale.specReplicasPath: Required value`, `spec.subresources.scale.statusReplicasPath: Required value`}},
		{Obj: scale(`"specReplicasPath":".n","statusReplicasPath":"status.n","labelSelectorPath":".s"`), Want: []string{`spec.subresources.scale.specReplicasPath: Invalid value: ".n": should be a json path under .spec`,
			`spec.subresources.scale.statusReplicasPath: Invalid value: "status.n": must be a simple json path starting with .`,
			`spec.subresources.scale.labelSelectorPath: Invalid value: ".s": should be a json path under either .spec or .status`}},
	})
}

func TestSelectableFields(t *testing.T) {
	const props = `"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"}}}}}}`
	fields := func(s string) string {
		return strings.Replace(storedVersion(`"selectableFields":[`+s+`]`), anySchema, props, 1)
	}
	RunValidationCases(t, definitionKind(t, meta.Platform), []ValidationCase{
		{Obj: fields(`{"jsonPath":".spec.a"}`)},
		{Obj: fields(`{"jsonPath":".spec.a"},{"jsonPath":".spec.a"},{},{"jsonPath":".spec.b"},{"jsonPath":".spec.c"},{"jsonPath":".metadata.name"},{"jsonPath":".spec.l[0]"}`), Want: []string{
			`spec.selectableFields[1].jsonPath: Duplicate value: ".spec.a"`, `spec.selectableFields[2].jsonPath: Required value`,
			`spec.selectableFields[3].jsonPath: Invalid value: ".spec.b": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.`,
			`spec.selectableFields[4].jsonPath: Invalid value: ".spec.c": is an invalid path: does not refer to a valid field`,
			`spec.selectableFields[5].jsonPath: Invalid value: ".metadata.name": is an invalid path: does not refer to a valid field`,
			`spec.selectableFields[6].jsonPath: Invalid value: ".spec.l[0]": is an invalid path: …`}},
		{Obj: fields(strings.TrimSuffix(strings.Repeat(`{"jsonPath":".spec.a"},`, 9), ",")), Want: []string{
			"spec…", "spec…", "spec…", "spec…", "spec…", "spec…", "spec…", "spec…"}},
	})
}

func TestDefinitionLifecycle(t *testing.T) {
	k := definitionKind(t, meta.Platform)
	old := Named(k, Parse(t, definition("", versionV1)))
	old["status"] = Parse(t, `{"storedVersions":["v0"]}`)
	Expect(t, "create", Create(k, old), nil)
	EqualJSON(t, "names", old.Object("spec")["names"], `{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"}`)
	EqualJSON(t, "conversion", old.Object("spec")["conversion"], `{"strategy":"None"}`)
	EqualJSON(t, "status", old["status"], `{"storedVersions":["v1"]}`)

	v2 := strings.Replace(versionV1, "v1", "v2", 1)
	now := Named(k, Parse(t, definition("", strings.Replace(versionV1, `"storage":true`, `"storage":false`, 1)+","+v2)))
	Expect(t, "another storage", Update(k, now, old), nil)
	EqualJSON(t, "status", now["status"], `{"storedVersions":["v1","v2"]}`)
	gone := Named(k, Parse(t, definition("", v2)))
	Expect(t, "stored version removed", Update(k, gone, now), []string{`status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version…`})

	forgotten := tree.Clone(now).(tree.Tree)
	forgotten["status"] = Parse(t, `{"storedVersions":["v1"],"acceptedNames":{"plural":"A","kind":""}}`)
	Expect(t, "status", Lines(rules.Validate(k, forgotten)), []string{`status.acceptedNames.plural: Invalid value: "A": a DNS-1035…`})
}

func TestDefinitionUpdate(t *testing.T) {
	k := definitionKind(t, meta.Platform)
	for _, established := range []bool{false, true} {
		old, now := Named(k, Parse(t, definition("", versionV1))), Named(k, Parse(t, definition("", versionV1)))
		Create(k, old)
		want := []string{`spec.group: Invalid value: "b.example": field is immutable`, `spec.names.plural: Invalid value: "gadgets": field is immutable`}
		if established {
			old["status"] = Parse(t, `{"storedVersions":["v1"],"conditions":[{"type":"Established","status":"True"}]}`)
			want = append([]string{`spec.scope: Invalid value: "Cluster": field is immutable`, `spec.names.kind: Invalid value: "Gadget": field is immutable`}, want...)
		}
		spec := now.Object("spec")
		spec["group"], spec["scope"] = "b.example", "Cluster"
		spec.Object("names")["kind"], spec.Object("names")["plural"] = "Gadget", "gadgets"
		Expect(t, "update", Lines(rules.ValidateUpdate(k, now, old)), want)
	}
}
