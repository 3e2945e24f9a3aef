package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

func TestNetworkPolicy(t *testing.T) {
	k := KindInGroup(t, meta.Platform, "networking.platform.io", "NetworkPolicy")
	in := func(rule string) string { return `{"spec":{"podSelector":{},"ingress":[{` + rule + `}]}}` }
	const at = "spec.ingress[0]."
	RunValidationCases(t, k, []ValidationCase{
		{Obj: `{"spec":{"podSelector":{}}}`},
		{Obj: in(`"ports":[{"port":80,"endPort":90},{"port":"http"},{}],"from":[{"podSelector":{},"namespaceSelector":{}},{"ipBlock":{"cidr":"10.0.0.0/8","except":["10.1.0.0/16"]}}]`)},
		{Obj: `{"spec":{"podSelector":{"matchLabels":{"a b":"c"}}}}`, Want: []string{`spec.podSelector.matchLabels: Invalid value: "a b": name part…`}},
		{Obj: in(`"ports":[{"protocol":"X","port":70000}]`), Want: []string{at + `ports[0].protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"`, at + `ports[0].port: Invalid value: 70000: ` + OutOfPorts}},
		{Obj: in(`"ports":[{"port":"A"}]`), Want: []string{at + `ports[0].port: Invalid value: "A": must contain only…`, at + `ports[0].port: Invalid value: "A": must contain at least…`}},
		{Obj: in(`"ports":[{"port":80,"endPort":70}]`), Want: []string{at + "ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`"}},
		{Obj: in(`"ports":[{"port":80,"endPort":70000}]`), Want: []string{at + `ports[0].endPort: Invalid value: 70000: ` + OutOfPorts}},
		{Obj: in(`"ports":[{"port":"http","endPort":90}]`), Want: []string{at + "ports[0].endPort: Invalid value: 90: may not be specified when `port` is non-numeric"}},
		{Obj: in(`"ports":[{"endPort":90}]`), Want: []string{at + "ports[0].endPort: Invalid value: 90: may not be specified when `port` is not specified"}},
		{Obj: in(`"from":[{}]`), Want: []string{at + `from[0]: Required value: must specify a peer`}},
		{Obj: in(`"from":[{"podSelector":{},"ipBlock":{"cidr":"10.0.0.0/8"}}]`), Want: []string{at + `from[0]: Forbidden: may not specify both ipBlock and another peer`}},
		{Obj: in(`"from":[{"namespaceSelector":{"matchLabels":{"a":"b c"}}}]`), Want: []string{at + `from[0].namespaceSelector.matchLabels: Invalid value: "b c": a valid label…`}},
		{Obj: in(`"from":[{"ipBlock":{}}]`), Want: []string{at + `from[0].ipBlock.cidr: Required value`}},
		{Obj: in(`"from":[{"ipBlock":{"cidr":"x"}}]`), Want: []string{at + `from[0].ipBlock.cidr: Invalid value: "x": ` + NoCIDR}},
		{Obj: in(`"from":[{"ipBlock":{"cidr":"10.0.0.0/8","except":["x","10.0.0.0/8","11.0.0.0/16"]}}]`), Want: []string{at + `from[0].ipBlock.except[0]: Invalid value: "x": ` + NoCIDR,
			at + "from[0].ipBlock.except[1]: Invalid value: \"10.0.0.0/8\": must be a strict subset of `cidr`", at + "from[0].ipBlock.except[2]: Invalid value: \"11.0.0.0/16\": must be a strict subset of `cidr`"}},
		{Obj: `{"spec":{"podSelector":{},"egress":[{"to":[{}],"ports":[{"port":0}]}]}}`, Want: []string{`spec.egress[0].ports[0].port: Invalid value: 0: ` + OutOfPorts, `spec.egress[0].to[0]: Required value: must specify a peer`}},
		{Obj: `{"spec":{"podSelector":{},"policyTypes":["Ingress","X"]}}`, Want: []string{`spec.policyTypes[1]: Unsupported value: "X": supported values: "Ingress", "Egress"`}},
		{Obj: `{"spec":{"podSelector":{},"policyTypes":["Ingress","Egress","Egress"]}}`, Want: []string{`spec.policyTypes: Invalid value: ["Ingress","Egress","Egress"]: may not specify more than two policyTypes`}},
	})
	for spec, want := range map[string]string{
		`{"ingress":[{"ports":[{"port":1}]}]}`: `{"policyTypes":["Ingress"],"ingress":[{"ports":[{"port":1,"protocol":"TCP"}]}]}`,
		`{"egress":[{}]}`:                      `{"policyTypes":["Ingress","Egress"],"egress":[{}]}`,
		`{"policyTypes":["Egress"]}`:           `{"policyTypes":["Egress"]}`,
	} {
		obj := Parse(t, `{"spec":`+spec+`}`)
		rules.Default(k, obj)
		EqualJSON(t, spec, obj["spec"], want)
	}
}

func TestIPAddress(t *testing.T) {
	const ref = `"spec":{"parentRef":{"resource":"services","namespace":"n","name":"s"}}`
	RunValidationCases(t, KindInGroup(t, meta.Platform, "networking.platform.io", "IPAddress"), []ValidationCase{
		{Obj: `{"metadata":{"name":"10.0.0.1"},` + ref + `}`},
		{Obj: `{"metadata":{"name":"fd00::1"},` + ref + `}`},
		{Obj: `{"metadata":{"name":"x"},` + ref + `}`, Want: []string{`metadata.name: Invalid value: "x": ` + NoIP}},
		{Obj: `{"metadata":{"name":"fd00::0:1"},` + ref + `}`, Want: []string{`metadata.name: Invalid value: "fd00::0:1": must be in canonical form ("fd00::1")`}},
		{Obj: `{"metadata":{"name":"10.0.0.1"}}`, Want: []string{`spec.parentRef: Required value`}},
		{Obj: `{"metadata":{"name":"10.0.0.1"},"spec":{"parentRef":{"group":"A","namespace":"a/b"}}}`, Want: []string{`spec.parentRef.group: Invalid value: "A": a lowercase…`,
			`spec.parentRef.resource: Required value`, `spec.parentRef.name: Required value`, `spec.parentRef.namespace: Invalid value: "a/b": may not contain '/'`}},
		{Name: "another parent", Old: `{"metadata":{"name":"10.0.0.1"},` + ref + `}`, Obj: `{"metadata":{"name":"10.0.0.1"},"spec":{"parentRef":{"resource":"services","name":"t"}}}`,
			Want: []string{`spec.parentRef: Invalid value: {"name":"t","resource":"services"}: field is immutable`}},
	})
}

func TestServiceCIDR(t *testing.T) {
	cidrs := func(list string) string { return `{"spec":{"cidrs":[` + list + `]}}` }
	const one, two = `"10.0.0.0/24"`, `"10.0.0.0/24","fd00::/64"`
	RunValidationCases(t, KindInGroup(t, meta.Platform, "networking.platform.io", "ServiceCIDR"), []ValidationCase{
		{Obj: cidrs(one)},
		{Obj: cidrs(two)},
		{Obj: `{}`, Want: []string{`spec.cidrs: Required value: at least one CIDR required`}},
		{Obj: cidrs(two + `,"10.1.0.0/24"`), Want: []string{`spec.cidrs: Invalid value: {"cidrs":["10.0.0.0/24","fd00::/64","10.1.0.0/24"]}: may only hold up to 2 values`}},
		{Obj: cidrs(`"x"`), Want: []string{`spec.cidrs[0]: Invalid value: "x": ` + NoCIDR}},
		{Obj: cidrs(`"10.0.0.1/24"`), Want: []string{`spec.cidrs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length`}},
		{Obj: cidrs(`"fd00::0:0/64"`), Want: []string{`spec.cidrs[0]: Invalid value: "fd00::0:0/64": must be in canonical form ("fd00::/64")`}},
		{Obj: cidrs(`"10.0.0.0/24","10.1.0.0/24"`), Want: []string{`spec.cidrs: Invalid value: ["10.0.0.0/24","10.1.0.0/24"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64`}},
		{Name: "a second one", Old: cidrs(one), Obj: cidrs(two)},
		{Name: "another one", Old: cidrs(one), Obj: cidrs(`"10.1.0.0/24"`), Want: []string{`spec.cidrs[0]: Invalid value: "10.1.0.0/24": field is immutable`}},
		{Name: "one less", Old: cidrs(two), Obj: cidrs(one), Want: []string{`spec.cidrs: Invalid value: ["10.0.0.0/24"]: field is immutable`}},
	})
}
