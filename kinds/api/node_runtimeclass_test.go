package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestRuntimeClass(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "node.platform.io", "v1", "RuntimeClass")
	for body, want := range map[string][]string{
		`{"handler":"runc","overhead":{"podFixed":{"cpu":"1m"}},"scheduling":{"nodeSelector":{"a":"b"},"tolerations":[{"key":"a","operator":"Exists"}]}}`: nil,
		`{}`:              {`handler: Invalid value: "": a lowercase RFC 1123 label…`},
		`{"handler":"A"}`: {`handler: Invalid value: "A": a lowercase RFC 1123 label…`},
		`{"handler":"r","overhead":{"podFixed":{"cpu":"-1"}}}`:                                                           {`overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		`{"handler":"r","scheduling":{"nodeSelector":{"a":"-"}}}`:                                                        {`scheduling.nodeSelector: Invalid value: "-"…`},
		`{"handler":"r","scheduling":{"tolerations":[{"key":"a","operator":"Exists"},{"key":"a","operator":"Exists"}]}}`: {`scheduling.tolerations[1]: Duplicate value: {"key":"a","operator":"Exists"}`},
	} {
		Expect(t, body, Create(k, Named(k, Parse(t, body))), want)
	}
	old := Named(k, Parse(t, `{"handler":"a"}`))
	Expect(t, "handler", Update(k, Named(k, Parse(t, `{"handler":"b"}`)), old), []string{`handler: Invalid value: "b": field is immutable`})
}
