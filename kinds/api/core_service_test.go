package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/service"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestServiceDefaults(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Service")
	for _, c := range []struct{ spec, want string }{
		{onePort, `{"type":"ClusterIP","sessionAffinity":"None","internalTrafficPolicy":"Cluster","ports":[{"port":80,"protocol":"TCP","targetPort":80}]}`},
		{`"ports":[{"port":80,"protocol":"UDP","targetPort":"dns"}]`,
			`{"type":"ClusterIP","sessionAffinity":"None","internalTrafficPolicy":"Cluster","ports":[{"port":80,"protocol":"UDP","targetPort":"dns"}]}`},
		{`"type":"NodePort"`, `{"type":"NodePort","sessionAffinity":"None","internalTrafficPolicy":"Cluster","externalTrafficPolicy":"Cluster"}`},
		{`"type":"LoadBalancer"`, `{"type":"LoadBalancer","sessionAffinity":"None","internalTrafficPolicy":"Cluster","externalTrafficPolicy":"Cluster","allocateLoadBalancerNodePorts":true}`},
		{`"type":"ExternalName","externalName":"a.b"`, `{"type":"ExternalName","sessionAffinity":"None","externalName":"a.b"}`},
		{`"externalIPs":["1.2.3.4"]`, `{"type":"ClusterIP","sessionAffinity":"None","internalTrafficPolicy":"Cluster","externalTrafficPolicy":"Cluster","externalIPs":["1.2.3.4"]}`},
		{`"sessionAffinity":"ClientIP"`, `{"type":"ClusterIP","sessionAffinity":"ClientIP","internalTrafficPolicy":"Cluster","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":10800}}}`},
		{`"sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":5}}`,
			`{"type":"ClusterIP","sessionAffinity":"ClientIP","internalTrafficPolicy":"Cluster","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":5}}}`},
		{`"sessionAffinityConfig":{"clientIP":{"timeoutSeconds":5}}`, `{"type":"ClusterIP","sessionAffinity":"None","internalTrafficPolicy":"Cluster"}`},
	} {
		obj := Parse(t, `{"spec":{`+c.spec+`}}`)
		rules.Default(k, obj)
		EqualJSON(t, c.spec, obj["spec"], c.want)
	}
	obj := Parse(t, `{"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"},{"hostname":"a"}]}}}`)
	rules.Default(k, obj)
	EqualJSON(t, "the mode of an address", obj["status"], `{"loadBalancer":{"ingress":[{"ip":"1.2.3.4","ipMode":"VIP"},{"hostname":"a"}]}}`)
}

func TestServiceRules(t *testing.T) {
	const mode = "service.platform.io/topology-mode"
	RunCreateCases(t, CoreKind(t, meta.Platform, "Service"), onePort, []CreateCase{
		{Name: "plain", Spec: ``, Want: nil},
		{Name: "no ports", Spec: `"ports":null`, Want: []string{`spec.ports: Required value`}},
		{Name: "headless without ports", Spec: `"ports":null,"clusterIP":"None"`, Want: nil},
		{Name: "unknown type", Spec: `"type":"Magic"`, Want: []string{`spec.type: Unsupported value: "Magic": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"`}},
		{Name: "unknown affinity", Spec: `"sessionAffinity":"X"`, Want: []string{`spec.sessionAffinity: Unsupported value: "X": supported values: "ClientIP", "None"`}},
		{Name: "affinity for a day", Spec: `"sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":86400}}`, Want: nil},
		{Name: "affinity for longer", Spec: `"sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":86401}}`,
			Want: []string{`spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400`}},
		{Name: "affinity for no time", Spec: `"sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":0}}`,
			Want: []string{`spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than 86400`}},
		{Name: "selector", Spec: `"selector":{"a b":"c"}`, Want: []string{`spec.selector: Invalid value: "a b": name part must consist…`}},
		{Name: "externalIPs", Spec: `"externalIPs":["1.2.3.4","x","127.0.0.1","0.0.0.0","169.254.1.1","224.0.0.5"]`, Want: []string{
			`spec.externalIPs[1]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
			`spec.externalIPs[2]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)`,
			`spec.externalIPs[3]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)`,
			`spec.externalIPs[4]: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)`,
			`spec.externalIPs[5]: Invalid value: "224.0.0.5": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)`}},
		{Name: "loadBalancerSourceRanges", Spec: balancer + `"loadBalancerSourceRanges":["10.0.0.0/8"," 1.2.3.4/32 ","x"]`, Want: []string{
			`spec.LoadBalancerSourceRanges[2]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`}},
		{Name: "loadBalancerSourceRanges of another type", Spec: `"loadBalancerSourceRanges":["10.0.0.0/8"]`, Want: []string{"spec.LoadBalancerSourceRanges: " + onlyLoadBalancerMsg}},
		{Name: "loadBalancerClass", Spec: balancer + `"loadBalancerClass":"e.com/x"`, Want: nil},
		{Name: "loadBalancerClass of no form", Spec: balancer + `"loadBalancerClass":"e.com/x/y"`, Want: []string{`spec.loadBalancerClass: Invalid value: "e.com/x/y": a valid label key…`}},
		{Name: "loadBalancerClass of another type", Spec: `"loadBalancerClass":"e.com/x"`, Want: []string{"spec.loadBalancerClass: " + onlyLoadBalancerMsg}},
		{Name: "allocateLoadBalancerNodePorts", Spec: `"allocateLoadBalancerNodePorts":false`, Want: []string{"spec.allocateLoadBalancerNodePorts: " + onlyLoadBalancerMsg}},
		{Name: "externalTrafficPolicy", Spec: `"externalTrafficPolicy":"Local"`, Want: []string{`spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services`}},
		{Name: "unknown externalTrafficPolicy", Spec: balancer + `"externalTrafficPolicy":"X"`, Want: []string{`spec.externalTrafficPolicy: Unsupported value: "X": supported values: "Cluster", "Local"`}},
		{Name: "internalTrafficPolicy", Spec: `"internalTrafficPolicy":"Local"`, Want: nil},
		{Name: "unknown internalTrafficPolicy", Spec: `"internalTrafficPolicy":"X"`, Want: []string{`spec.internalTrafficPolicy: Unsupported value: "X": supported values: "Cluster", "Local"`}},
		{Name: "healthCheckNodePort", Spec: balancer + `"externalTrafficPolicy":"Local","healthCheckNodePort":30000`, Want: nil},
		{Name: "healthCheckNodePort that is no port", Spec: balancer + `"externalTrafficPolicy":"Local","healthCheckNodePort":70000`, Want: []string{`spec.healthCheckNodePort: Invalid value: 70000: must be between 1 and 65535, inclusive`}},
		{Name: "healthCheckNodePort of another policy", Spec: balancer + `"healthCheckNodePort":30000`, Want: []string{"spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"}},
		{Name: "trafficDistribution", Spec: `"trafficDistribution":"X"`, Want: []string{`spec.trafficDistribution: Unsupported value: "X": supported values: "PreferClose", "PreferSameNode", "PreferSameZone"`}},
		{Name: "the port of node agents", Spec: balancer + `"ports":[{"port":10250}]`, Want: []string{`spec.ports[0]: Invalid value: 10250: may not expose port 10250 externally since it is used by kubelet`}},
		{Name: "headless LoadBalancer", Spec: balancer + `"clusterIP":"None"`, Want: []string{`spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for LoadBalancer services`}},
		{Name: "headless NodePort", Spec: `"type":"NodePort","clusterIP":"None"`, Want: []string{`spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services`}},
		{Name: "ExternalName", Spec: `"type":"ExternalName","externalName":"a.b."`, Want: nil},
		{Name: "ExternalName without", Spec: `"type":"ExternalName"`, Want: []string{`spec.externalName: Required value`}},
		{Name: "ExternalName in capitals", Spec: `"type":"ExternalName","externalName":"A.b"`, Want: []string{`spec.externalName: Invalid value: "A.b": a lowercase RFC 1123 subdomain…`}},
		{Name: "ExternalName with addresses", Spec: `"type":"ExternalName","externalName":"a.b","clusterIP":"10.0.0.1","ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"`, Want: []string{
			`spec.clusterIPs: Forbidden: may not be set for ExternalName services`, `spec.ipFamilies: Forbidden: may not be set for ExternalName services`,
			`spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services`}},
	})
	k := CoreKind(t, meta.Platform, "Service")
	obj := Named(k, Parse(t, `{"metadata":{"name":"1x","annotations":{"`+mode+`":"a","service.platform.io/topology-aware-hints":"b","service.beta.platform.io/load-balancer-source-ranges":"10.0.0.0/8, x"}},"spec":{`+balancer+onePort+`}}`))
	Expect(t, "name and annotations", Create(k, obj), []string{`metadata.name: Invalid value: "1x": a DNS-1035 label…`,
		`metadata.annotations[` + mode + `]: Invalid value: "a": must match annotations[service.platform.io/topology-aware-hints] when both are specified`,
		`metadata.annotations[service.beta.platform.io/load-balancer-source-ranges]: Invalid value: "x": must be a valid CIDR value…`})
	obj = Named(k, Parse(t, `{"metadata":{"annotations":{"service.beta.platform.io/load-balancer-source-ranges":""}},"spec":{`+onePort+`}}`))
	Expect(t, "annotation of another type", Create(k, obj), []string{`metadata.annotations[service.beta.platform.io/load-balancer-source-ranges]: ` + onlyLoadBalancerMsg})
}

func TestServicePorts(t *testing.T) {
	RunCreateCases(t, CoreKind(t, meta.Platform, "Service"), `"type":"NodePort"`, []CreateCase{
		{Name: "several", Spec: `"ports":[{"name":"a","port":80,"nodePort":30000},{"name":"b","port":80,"protocol":"UDP","nodePort":30000}]`, Want: nil},
		{Name: "no number", Spec: `"ports":[{"port":0,"targetPort":1}]`, Want: []string{`spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive`}},
		{Name: "not named", Spec: `"ports":[{"port":1},{"name":"b","port":2}]`, Want: []string{`spec.ports[0].name: Required value`}},
		{Name: "named alike", Spec: `"ports":[{"name":"b","port":1},{"name":"b","port":2}]`, Want: []string{`spec.ports[1].name: Duplicate value: "b"`}},
		{Name: "name", Spec: `"ports":[{"name":"A","port":1}]`, Want: []string{`spec.ports[0].name: Invalid value: "A": a lowercase RFC 1123 label…`}},
		{Name: "protocol", Spec: `"ports":[{"port":1,"protocol":"X"}]`, Want: []string{`spec.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`}},
		{Name: "targetPort", Spec: `"ports":[{"port":1,"targetPort":70000}]`, Want: []string{`spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive`}},
		{Name: "targetPort by name", Spec: `"ports":[{"port":1,"targetPort":"-"}]`, Want: []string{`spec.ports[0].targetPort: Invalid value: "-": must contain at least one letter (a-z)`, `spec.ports[0].targetPort: Invalid value: "-": must not begin or end with a hyphen`}},
		{Name: "appProtocol", Spec: `"ports":[{"port":1,"appProtocol":"a b"}]`, Want: []string{`spec.ports[0].appProtocol: Invalid value: "a b": name part must consist…`}},
		{Name: "repeated", Spec: `"ports":[{"name":"a","port":1},{"name":"b","port":1}]`, Want: []string{`spec.ports[1]: Duplicate value: {"port":1,"protocol":"TCP"}`}},
		{Name: "node port repeated", Spec: `"ports":[{"name":"a","port":1,"nodePort":30000},{"name":"b","port":2,"nodePort":30000}]`, Want: []string{`spec.ports[1].nodePort: Duplicate value: 30000`}},
		{Name: "node port of a ClusterIP", Spec: `"type":"ClusterIP","ports":[{"port":1,"nodePort":30000}]`, Want: []string{"spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"}},
	})
}

func TestServiceAddresses(t *testing.T) {
	RunCreateCases(t, CoreKind(t, meta.Platform, "Service"), onePort, []CreateCase{
		{Name: "an address", Spec: `"clusterIP":"10.0.0.5"`, Want: nil},
		{Name: "both", Spec: `"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5","fd00::5"],"ipFamilies":["IPv4","IPv6"]`, Want: nil},
		{Name: "no address", Spec: `"clusterIP":"x"`, Want: []string{`spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`}},
		{Name: "others", Spec: `"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.6"]`, Want: []string{"spec.clusterIPs: Invalid value: [\"10.0.0.6\"]: first value must match `clusterIP`"}},
		{Name: "clusterIPs alone", Spec: `"clusterIPs":["10.0.0.6"]`, Want: []string{"spec.clusterIPs: Invalid value: [\"10.0.0.6\"]: must be empty when `clusterIP` is not specified"}},
		{Name: "None and more", Spec: `"clusterIP":"None","clusterIPs":["None","10.0.0.6"]`, Want: []string{`spec.clusterIPs: Invalid value: ["None","10.0.0.6"]: 'None' must be the first and only value`}},
		{Name: "three", Spec: `"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5","fd00::5","10.0.0.7"]`, Want: []string{`spec.clusterIPs: Invalid value: ["10.0.0.5","fd00::5","10.0.0.7"]: may only hold up to 2 values`}},
		{Name: "one family twice", Spec: `"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5","10.0.0.7"]`, Want: []string{`spec.clusterIPs: Invalid value: ["10.0.0.5","10.0.0.7"]: may specify no more than one IP for each IP family`}},
		{Name: "other families", Spec: `"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5","fd00::5"],"ipFamilies":["IPv6","IPv4"]`, Want: []string{
			"spec.clusterIPs[0]: Invalid value: \"10.0.0.5\": expected an IPv6 value as indicated by `ipFamilies[0]`",
			"spec.clusterIPs[1]: Invalid value: \"fd00::5\": expected an IPv4 value as indicated by `ipFamilies[1]`"}},
		{Name: "families", Spec: `"ipFamilies":["IPv4","IPv4","X"]`, Want: []string{`spec.ipFamilies[1]: Duplicate value: "IPv4"`, `spec.ipFamilies[2]: Unsupported value: "X": supported values: "IPv4", "IPv6"`}},
		{Name: "policy", Spec: `"ipFamilyPolicy":"X"`, Want: []string{`spec.ipFamilyPolicy: Unsupported value: "X": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"`}},
	})
}

func TestServiceStatus(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Service")
	for _, c := range []struct {
		status string
		want   []string
	}{
		{`{"loadBalancer":{"ingress":[{"ip":"1.2.3.4","ipMode":"Proxy","ports":[{"port":80,"protocol":"TCP"}]},{"hostname":"a.b"}]}}`, nil},
		{`{"loadBalancer":{"ingress":[{"ip":"x","ipMode":"VIP"}]}}`, []string{`status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address…`}},
		{`{"loadBalancer":{"ingress":[{"hostname":"1.2.3.4"}]}}`, []string{`status.loadBalancer.ingress[0].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address`}},
		{`{"loadBalancer":{"ingress":[{"hostname":"A"}]}}`, []string{`status.loadBalancer.ingress[0].hostname: Invalid value: "A": a lowercase RFC 1123 subdomain…`}},
		{`{"loadBalancer":{"ingress":[{"hostname":"a","ipMode":"VIP"}]}}`, []string{"status.loadBalancer.ingress[0].ipMode: Forbidden: may not be specified when `ip` is not set"}},
		{`{"loadBalancer":{"ingress":[{"ip":"1.2.3.4","ipMode":"X"}]}}`, []string{`status.loadBalancer.ingress[0].ipMode: Unsupported value: "X": supported values: "Proxy", "VIP"`}},
		{`{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}`, []string{"status.loadBalancer.ingress[0].ipMode: Required value: must be specified when `ip` is set"}},
		{`{"loadBalancer":{"ingress":[{"hostname":"a","ports":[{"protocol":"X"},{"port":1}]}]}}`, []string{`status.loadBalancer.ingress[0].ports[0].port: Required value`,
			`status.loadBalancer.ingress[0].ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`,
			`status.loadBalancer.ingress[0].ports[1].protocol: Required value`}},
		{`{"conditions":[{"type":"e.com/Ready","status":"True","reason":"AsIs","message":"","lastTransitionTime":"2020-01-01T00:00:00Z"}]}`, nil},
		{`{"conditions":[{"type":"a b","status":"X","reason":"","observedGeneration":-1}]}`, []string{`status.conditions[0].type: Invalid value: "a b": name part…`,
			`status.conditions[0].status: Unsupported value: "X": supported values: "False", "True", "Unknown"`,
			`status.conditions[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero`, `status.conditions[0].lastTransitionTime: Required value`,
			`status.conditions[0].reason: Required value`}},
		{`{"conditions":[{"type":"A","status":"True","reason":"not so","message":"` + strings.Repeat("m", 32769) + `"}]}`, []string{
			`status.conditions[0].lastTransitionTime: Required value`,
			`status.conditions[0].reason: Invalid value: "not so": a condition reason must start with alphabetic character…`, `status.conditions[0].message: Too long: may not be more than 32768 bytes`}},
	} {
		obj := Named(k, Parse(t, `{"spec":{"type":"LoadBalancer",`+onePort+`}}`))
		Create(k, obj)
		obj["status"] = Parse(t, c.status)
		Expect(t, c.status[:min(len(c.status), 99)], Lines(rules.Validate(k, obj)), c.want)
	}
}

// TestServiceUpdate: an update that omits allocated values keeps them, and fields of the old type
// are cleared unless the update changes them.
func TestServiceUpdate(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Service")
	const local = `"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30009,"allocateLoadBalancerNodePorts":true,"loadBalancerClass":"e.com/x",` + addresses +
		`,"internalTrafficPolicy":"Cluster","sessionAffinity":"None","ports":[{"name":"a","port":80,"targetPort":80,"protocol":"TCP","nodePort":30001}]`
	for _, c := range []struct{ name, old, now, want string }{
		{"the text of the create", local, `"type":"LoadBalancer","externalTrafficPolicy":"Local","loadBalancerClass":"e.com/x","ports":[{"name":"a","port":81}]`,
			`{"type":"LoadBalancer","sessionAffinity":"None","internalTrafficPolicy":"Cluster","externalTrafficPolicy":"Local","healthCheckNodePort":30009,"allocateLoadBalancerNodePorts":true,"loadBalancerClass":"e.com/x",
			"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5"],"ports":[{"name":"a","port":81,"targetPort":81,"protocol":"TCP","nodePort":30001}]}`},
		{"to ClusterIP", local, local + `,"type":"ClusterIP"`, `{"type":"ClusterIP",` + addresses + `,"internalTrafficPolicy":"Cluster","sessionAffinity":"None","ports":[{"name":"a","port":80,"targetPort":80,"protocol":"TCP"}]}`},
		{"to NodePort", local, local + `,"type":"NodePort"`, `{"type":"NodePort","externalTrafficPolicy":"Local",` + addresses + `,"internalTrafficPolicy":"Cluster","sessionAffinity":"None","ports":[{"name":"a","port":80,"targetPort":80,"protocol":"TCP","nodePort":30001}]}`},
		{"to ExternalName", local, local + `,"type":"ExternalName","externalName":"a.b"`, `{"type":"ExternalName","externalName":"a.b","sessionAffinity":"None","ports":[{"name":"a","port":80,"targetPort":80,"protocol":"TCP"}]}`},
		{"another address alone", addresses, `"clusterIP":"10.0.0.6","clusterIPs":["10.0.0.5"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"`,
			`{"type":"ClusterIP","clusterIP":"10.0.0.6","clusterIPs":["10.0.0.6"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","internalTrafficPolicy":"Cluster","sessionAffinity":"None"}`},
		{"ports change places", `"type":"NodePort","ports":[{"name":"a","port":1,"nodePort":30001},{"name":"b","port":2,"nodePort":30002}]`,
			`"type":"NodePort","ports":[{"name":"a","port":1},{"name":"b","port":2,"nodePort":30001}]`,
			`{"type":"NodePort","externalTrafficPolicy":"Cluster","internalTrafficPolicy":"Cluster","sessionAffinity":"None","ports":[
			{"name":"a","port":1,"targetPort":1,"protocol":"TCP"},{"name":"b","port":2,"targetPort":2,"protocol":"TCP","nodePort":30001}]}`},
	} {
		old := Named(k, Parse(t, `{"spec":{`+c.old+`},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4","ipMode":"VIP"}]}}}`))
		now := Named(k, tree.Tree{"spec": Merged(t, c.now, `"x":null`)})
		Update(k, now, old)
		EqualJSON(t, c.name, now["spec"], c.want)
		if balanced := len(now.Object("status", "loadBalancer")) > 0; balanced != strings.Contains(c.want, `"LoadBalancer"`) {
			t.Errorf("%s: status %v", c.name, now["status"])
		}
	}
}

const addresses = `"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5"]`

func TestServiceChanges(t *testing.T) {
	const (
		one   = `"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"`
		two   = `"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5","fd00::5"],"ipFamilies":["IPv4","IPv6"],"ipFamilyPolicy":"PreferDualStack"`
		outer = `"type":"ExternalName","externalName":"a.b"`
	)
	RunSpecUpdateCases(t, CoreKind(t, meta.Platform, "Service"), onePort, []SpecUpdateCase{
		{Name: "nothing", Old: one, Now: ``, Want: nil},
		{Name: "another address", Old: one, Now: `"clusterIP":"10.0.0.6"`, Want: []string{`spec.clusterIPs[0]: Invalid value: ["10.0.0.6"]: may not change once set`}},
		{Name: "headless", Old: one, Now: `"clusterIP":"None"`, Want: []string{`spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set`}},
		{Name: "from headless", Old: `"clusterIP":"None"`, Now: `"clusterIP":"10.0.0.6"`, Want: []string{`spec.clusterIPs[0]: Invalid value: ["10.0.0.6"]: may not change once set`}},
		{Name: "another family", Old: one, Now: `"clusterIP":"fd00::5","clusterIPs":["fd00::5"],"ipFamilies":["IPv6"]`, Want: []string{`spec.clusterIPs[0]: Invalid value: ["fd00::5"]: may not change once set`, `spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set`}},
		{Name: "a second one", Old: one, Now: `"clusterIPs":["10.0.0.5","fd00::5"],"ipFamilies":["IPv4","IPv6"],"ipFamilyPolicy":"RequireDualStack"`, Want: nil},
		{Name: "a second one before the first", Old: one, Now: `"clusterIP":"fd00::5","clusterIPs":["fd00::5","10.0.0.5"],"ipFamilies":["IPv6","IPv4"],"ipFamilyPolicy":"RequireDualStack"`, Want: []string{
			`spec.clusterIPs[0]: Invalid value: ["fd00::5","10.0.0.5"]: may not change once set`, `spec.ipFamilies[0]: Invalid value: ["IPv6","IPv4"]: may not change once set`}},
		{Name: "without the second one", Old: two, Now: `"clusterIPs":["10.0.0.5"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"`, Want: nil},
		{Name: "without the second one by the way", Old: two, Now: `"clusterIPs":["10.0.0.5"],"ipFamilies":["IPv4"]`, Want: []string{
			`spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to 'SingleStack' when releasing the secondary clusterIP`,
			`spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to 'SingleStack' when releasing the secondary ipFamily`}},
		{Name: "to ExternalName with an address", Old: one, Now: outer + `,"clusterIP":"10.0.0.6"`, Want: []string{`spec.clusterIPs: Forbidden: may not be set for ExternalName services`}},
		{Name: "from ExternalName", Old: outer, Now: `"type":"ClusterIP","clusterIP":"10.0.0.6"`, Want: nil},
		{Name: "another class", Old: balancer + `"loadBalancerClass":"e.com/x"`, Now: `"loadBalancerClass":"e.com/y"`, Want: []string{`spec.loadBalancerClass: Invalid value: "e.com/y": may not change once set`}},
		{Name: "a first class", Old: balancer + `"sessionAffinity":"None"`, Now: `"loadBalancerClass":"e.com/y"`, Want: []string{`spec.loadBalancerClass: Invalid value: "e.com/y": may not change once set`}},
		{Name: "another port for health checks", Old: balancer + `"externalTrafficPolicy":"Local","healthCheckNodePort":30000`, Now: `"healthCheckNodePort":30001`, Want: []string{
			`spec.healthCheckNodePort: Forbidden: field is immutable`}},
	})
}

func TestServiceWarnings(t *testing.T) {
	k := CoreKind(t, meta.Kubernetes, "Service")
	for _, c := range []struct {
		spec string
		want []string
	}{
		{``, nil},
		{`"clusterIP":"None","sessionAffinity":"ClientIP","loadBalancerIP":"1.2.3.4","externalIPs":["1.2.3.4"]`, []string{"spec.loadBalancerIP is ignored for headless services",
			"spec.externalIPs is ignored for headless services", "spec.SessionAffinity is ignored for headless services"}},
		{`"type":"ExternalName","externalIPs":["1.2.3.4"]`, []string{`spec.externalIPs is ignored when spec.type is "ExternalName"`}},
		{`"externalName":"a"`, []string{`spec.externalName is ignored when spec.type is not "ExternalName"`}},
		{`"trafficDistribution":"PreferClose"`, []string{`spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"`}},
	} {
		obj := Named(k, Parse(t, `{"spec":{`+c.spec+`}}`))
		Create(k, obj)
		if got := k.Strategy.Warnings(obj, nil); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", c.spec, got)
		}
	}
	obj := Parse(t, `{"metadata":{"annotations":{"service.kubernetes.io/topology-aware-hints":"Auto"}}}`)
	Expect(t, "annotation", k.Strategy.Warnings(obj, nil), []string{"annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead"})
}

func TestServiceValidation(t *testing.T) {
	var faults schema.Faults
	service.ValidateClusterIPs(Parse(t, `{"clusterIP":"10.0.0.1"}`), &faults)
	Expect(t, "clusterIP alone", Lines(faults.List), []string{"spec.clusterIPs: Required value"})

	k := CoreKind(t, meta.Platform, "Service")
	RunSpecUpdateCases(t, k, onePort, []SpecUpdateCase{
		{Name: "no families", Old: `"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5"],"ipFamilies":["IPv4"]`, Now: `"ipFamilies":null`, Want: []string{`spec.ipFamilies[0]: Invalid value: null: primary ipFamily can not be unset`}},
	})
}

const onePort = `"ports":[{"port":80}]`

const (
	balancer            = `"type":"LoadBalancer",`
	onlyLoadBalancerMsg = "Forbidden: may only be used when `type` is 'LoadBalancer'"
)
