package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

func TestEndpoints(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Endpoints")
	RunValidationCases(t, k, []ValidationCase{
		{Obj: `{}`},
		{Obj: `{"subsets":[{"addresses":[{"ip":"10.1.2.3","hostname":"a","nodeName":"n"}],"ports":[{"port":1}]}]}`},
		{Obj: `{"subsets":[{"ports":[{"port":1}]}]}`, Want: []string{"subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"}},
		{Obj: `{"subsets":[{"notReadyAddresses":[{"ip":"x","hostname":"A","nodeName":"N"}]}]}`, Want: []string{`subsets[0].notReadyAddresses[0].ip: Invalid value: "x": ` + NoIP,
			`subsets[0].notReadyAddresses[0].hostname: Invalid value: "A": a lowercase RFC 1123 label…`, `subsets[0].notReadyAddresses[0].nodeName: Invalid value: "N": a lowercase RFC 1123 subdomain…`}},
		{Obj: `{"subsets":[{"addresses":[{"ip":"::1"}]}]}`, Want: []string{`subsets[0].addresses[0].ip: Invalid value: "::1": ` + Loopback}},
		{Obj: `{"subsets":[{"addresses":[{"ip":"10.1.2.3"}],"ports":[{"port":0,"protocol":"X"},{"port":2,"name":"B","appProtocol":"a b"}]}]}`, Want: []string{
			`subsets[0].ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`, `subsets[0].ports[0].name: Required value`,
			`subsets[0].ports[0].port: Invalid value: 0: ` + OutOfPorts, `subsets[0].ports[1].name: Invalid value: "B": a lowercase…`, `subsets[0].ports[1].appProtocol: Invalid value: "a b": name part…`}},
	})
	obj := Parse(t, `{"subsets":[{"ports":[{"port":1}]}]}`)
	rules.Default(k, obj)
	EqualJSON(t, "defaults", obj["subsets"], `[{"ports":[{"port":1,"protocol":"TCP"}]}]`)
}
