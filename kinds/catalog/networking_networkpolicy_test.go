package catalog_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

func TestNetworkPolicy(t *testing.T) {
	k := kindInGroup(t, meta.Platform, "networking.platform.io", "NetworkPolicy")
	in := func(rule string) string { return `{"spec":{"podSelector":{},"ingress":[{` + rule + `}]}}` }
	const at = "spec.ingress[0]."
	runValidationCases(t, k, []validationCase{
		{obj: `{"spec":{"podSelector":{}}}`},
		{obj: in(`"ports":[{"port":80,"endPort":90},{"port":"http"},{}],"from":[{"podSelector":{},"namespaceSelector":{}},{"ipBlock":{"cidr":"10.0.0.0/8","except":["10.1.0.0/16"]}}]`)},
		{obj: `{"spec":{"podSelector":{"matchLabels":{"a b":"c"}}}}`, want: []string{`spec.podSelector.matchLabels: Invalid value: "a b": name part…`}},
		{obj: in(`"ports":[{"protocol":"X","port":70000}]`), want: []string{at + `ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`, at + `ports[0].port: Invalid value: 70000: ` + outOfPorts}},
		{obj: in(`"ports":[{"port":"A"}]`), want: []string{at + `ports[0].port: Invalid value: "A": must contain only…`, at + `ports[0].port: Invalid value: "A": must contain at least…`}},
		{obj: in(`"ports":[{"port":80,"endPort":70}]`), want: []string{at + "ports[0].endPort: Invalid value: 70: must be greater than or equal to `port`"}},
		{obj: in(`"ports":[{"port":80,"endPort":70000}]`), want: []string{at + `ports[0].endPort: Invalid value: 70000: ` + outOfPorts}},
		{obj: in(`"ports":[{"port":"http","endPort":90}]`), want: []string{at + "ports[0].endPort: Invalid value: 90: may not be specified when `port` is non-numeric"}},
		{obj: in(`"ports":[{"endPort":90}]`), want: []string{at + "ports[0].endPort: Invalid value: 90: may not be specified when `port` is not specified"}},
		{obj: in(`"from":[{}]`), want: []string{at + `from[0]: Required value: must specify a peer`}},
		{obj: in(`"from":[{"podSelector":{},"ipBlock":{"cidr":"10.0.0.0/8"}}]`), want: []string{at + `from[0]: Forbidden: may not specify both ipBlock and another peer`}},
		{obj: in(`"from":[{"namespaceSelector":{"matchLabels":{"a":"b c"}}}]`), want: []string{at + `from[0].namespaceSelector.matchLabels: Invalid value: "b c": a valid label…`}},
		{obj: in(`"from":[{"ipBlock":{}}]`), want: []string{at + `from[0].ipBlock.cidr: Required value`}},
		{obj: in(`"from":[{"ipBlock":{"cidr":"x"}}]`), want: []string{at + `from[0].ipBlock.cidr: Invalid value: "x": ` + noCIDR}},
		{obj: in(`"from":[{"ipBlock":{"cidr":"10.0.0.0/8","except":["x","10.0.0.0/8","11.0.0.0/16"]}}]`), want: []string{at + `from[0].ipBlock.except[0]: Invalid value: "x": ` + noCIDR,
			at + "from[0].ipBlock.except[1]: Invalid value: \"10.0.0.0/8\": must be a strict subset of `cidr`", at + "from[0].ipBlock.except[2]: Invalid value: \"11.0.0.0/16\": must be a strict subset of `cidr`"}},
		{obj: `{"spec":{"podSelector":{},"egress":[{"to":[{}],"ports":[{"port":0}]}]}}`, want: []string{`spec.egress[0].ports[0].port: Invalid value: 0: ` + outOfPorts, `spec.egress[0].to[0]: Required value: must specify a peer`}},
		{obj: `{"spec":{"podSelector":{},"policyTypes":["Ingress","X"]}}`, want: []string{`spec.policyTypes[1]: Unsupported value: "X": supported values: "Egress", "Ingress"`}},
		{obj: `{"spec":{"podSelector":{},"policyTypes":["Ingress","Egress","Egress"]}}`, want: []string{`spec.policyTypes: Invalid value: ["Ingress","Egress","Egress"]: may not specify more than two policyTypes`}},
	})
	for spec, want := range map[string]string{
		`{"ingress":[{"ports":[{"port":1}]}]}`: `{"policyTypes":["Ingress"],"ingress":[{"ports":[{"port":1,"protocol":"TCP"}]}]}`,
		`{"egress":[{}]}`:                      `{"policyTypes":["Ingress","Egress"],"egress":[{}]}`,
		`{"policyTypes":["Egress"]}`:           `{"policyTypes":["Egress"]}`,
	} {
		obj := parseTree(t, `{"spec":`+spec+`}`)
		rules.Default(k, obj)
		equalJSON(t, spec, obj["spec"], want)
	}
}

func TestIPAddress(t *testing.T) {
	const ref = `"spec":{"parentRef":{"resource":"services","namespace":"n","name":"s"}}`
	runValidationCases(t, kindInGroup(t, meta.Platform, "networking.platform.io", "IPAddress"), []validationCase{
		{obj: `{"metadata":{"name":"10.0.0.1"},` + ref + `}`},
		{obj: `{"metadata":{"name":"fd00::1"},` + ref + `}`},
		{obj: `{"metadata":{"name":"x"},` + ref + `}`, want: []string{`metadata.name: Invalid value: "x": ` + noIP}},
		{obj: `{"metadata":{"name":"fd00::0:1"},` + ref + `}`, want: []string{`metadata.name: Invalid value: "fd00::0:1": must be in canonical form ("fd00::1")`}},
		{obj: `{"metadata":{"name":"10.0.0.1"}}`, want: []string{`spec.parentRef: Required value`}},
		{obj: `{"metadata":{"name":"10.0.0.1"},"spec":{"parentRef":{"group":"A","namespace":"a/b"}}}`, want: []string{`spec.parentRef.group: Invalid value: "A": a lowercase…`,
			`spec.parentRef.resource: Required value`, `spec.parentRef.name: Required value`, `spec.parentRef.namespace: Invalid value: "a/b": may not contain '/'`}},
		{name: "another parent", old: `{"metadata":{"name":"10.0.0.1"},` + ref + `}`, obj: `{"metadata":{"name":"10.0.0.1"},"spec":{"parentRef":{"resource":"services","name":"t"}}}`,
			want: []string{`spec.parentRef: Invalid value: {"name":"t","resource":"services"}: field is immutable`}},
	})
}

func TestServiceCIDR(t *testing.T) {
	cidrs := func(list string) string { return `{"spec":{"cidrs":[` + list + `]}}` }
	const one, two = `"10.0.0.0/24"`, `"10.0.0.0/24","fd00::/64"`
	runValidationCases(t, kindInGroup(t, meta.Platform, "networking.platform.io", "ServiceCIDR"), []validationCase{
		{obj: cidrs(one)},
		{obj: cidrs(two)},
		{obj: `{}`, want: []string{`spec.cidrs: Required value: at least one CIDR required`}},
		{obj: cidrs(two + `,"10.1.0.0/24"`), want: []string{`spec.cidrs: Invalid value: {"cidrs":["10.0.0.0/24","fd00::/64","10.1.0.0/24"]}: may only hold up to 2 values`}},
		{obj: cidrs(`"x"`), want: []string{`spec.cidrs[0]: Invalid value: "x": ` + noCIDR}},
		{obj: cidrs(`"10.0.0.1/24"`), want: []string{`spec.cidrs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length`}},
		{obj: cidrs(`"fd00::0:0/64"`), want: []string{`spec.cidrs[0]: Invalid value: "fd00::0:0/64": must be in canonical form ("fd00::/64")`}},
		{obj: cidrs(`"10.0.0.0/24","10.1.0.0/24"`), want: []string{`spec.cidrs: Invalid value: ["10.0.0.0/24","10.1.0.0/24"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64`}},
		{name: "a second one", old: cidrs(one), obj: cidrs(two)},
		{name: "another one", old: cidrs(one), obj: cidrs(`"10.1.0.0/24"`), want: []string{`spec.cidrs[0]: Invalid value: "10.1.0.0/24": field is immutable`}},
		{name: "one less", old: cidrs(two), obj: cidrs(one), want: []string{`spec.cidrs: Invalid value: ["10.0.0.0/24"]: field is immutable`}},
	})
}
