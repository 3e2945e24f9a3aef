package api_test

import (
	"slices"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestFormatWarnings(t *testing.T) {
	definition := func(schema string) tree.Tree {
		return Parse(t, `{"spec":{"versions":[{"schema":{"openAPIV3Schema":`+schema+`}}]}}`)
	}
	const known = `{"type":"object","properties":{"a":{"type":"string","format":"date-time"},"b":{"type":"string","format":"k8s-short-name"},
		"c":{"type":"integer","format":"strange"},"d":{"type":"string"}}}`
	const unknown = `{"type":"object","properties":{"b":{"type":"array","items":{"type":"string","format":"odd"}},"a":{"type":"string","format":"strange"},
		"c":{"type":"object","additionalProperties":{"type":"string","format":"odd"},"anyOf":[{"type":"string","format":"fine"}]}}}`
	for _, c := range []struct {
		obj, old tree.Tree
		want     []string
	}{
		{definition(known), nil, nil},
		{definition(unknown), nil, []string{`unrecognized format "strange"`, `unrecognized format "odd"`, `unrecognized format "fine"`}},
		{definition(unknown), definition(unknown), nil},
		{definition(unknown), definition(`{"type":"string","format":"odd"}`), []string{`unrecognized format "strange"`, `unrecognized format "fine"`}},
	} {
		if got := KindInGroup(t, meta.Kubernetes, "apiextensions.platform.io", "CustomResourceDefinition").Strategy.Warnings(c.obj, c.old); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.obj, got, c.want)
		}
	}
}

func TestLostFieldWarnings(t *testing.T) {
	definition := func(conversion, served, stored string) tree.Tree {
		return Parse(t, `{"spec":{`+conversion+`"versions":[{"name":"v1","served":true,"schema":{"openAPIV3Schema":`+served+`}},
			{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":`+stored+`}}]}}`)
	}
	const old = `{"type":"object","properties":{"kind":{"type":"string"},"spec":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"l":{"type":"array","items":{"type":"object","properties":{"x":{"type":"string"}}}}}}}}`
	const new = `{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"},"l":{"type":"array","items":{"type":"object","properties":{"y":{"type":"string"}}}}}}}}`
	const open = `{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`
	lost := []string{`version "v1" has the field "spec.b", which the stored version "v2" lacks: values of it are lost`,
		`version "v1" has the field "spec.l[*].x", which the stored version "v2" lacks: values of it are lost`}
	for _, c := range []struct {
		obj, old tree.Tree
		want     []string
	}{
		{definition("", old, new), nil, lost},
		{definition("", old, new), definition("", old, new), nil},
		{definition("", old, old), nil, nil},
		{definition("", old, open), nil, nil},
		{definition(`"conversion":{"strategy":"Webhook"},`, old, new), nil, nil},
	} {
		if got := KindInGroup(t, meta.Kubernetes, "apiextensions.platform.io", "CustomResourceDefinition").Strategy.Warnings(c.obj, c.old); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.obj, got, c.want)
		}
	}
}
