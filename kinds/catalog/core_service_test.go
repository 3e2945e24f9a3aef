package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

const onePort = `"ports":[{"port":80}]`

const (
	balancer            = `"type":"LoadBalancer",`
	onlyLoadBalancerMsg = "Forbidden: may only be used when `type` is 'LoadBalancer'"
)

func TestServiceDefaults(t *testing.T) {
	k := coreKind(t, meta.Platform, "Service")
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
		obj := parseTree(t, `{"spec":{`+c.spec+`}}`)
		rules.Default(k, obj)
		equalJSON(t, c.spec, obj["spec"], c.want)
	}
	obj := parseTree(t, `{"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"},{"hostname":"a"}]}}}`)
	rules.Default(k, obj)
	equalJSON(t, "the mode of an address", obj["status"], `{"loadBalancer":{"ingress":[{"ip":"1.2.3.4","ipMode":"VIP"},{"hostname":"a"}]}}`)
}

func TestServiceRules(t *testing.T) {
	const mode = "service.platform.io/topology-mode"
	runCreateCases(t, coreKind(t, meta.Platform, "Service"), onePort, []createCase{
		{"plain", ``, nil},
		{"no ports", `"ports":null`, []string{`spec.ports: Required value`}},
		{"headless without ports", `"ports":null,"clusterIP":"None"`, nil},
		{"unknown type", `"type":"Magic"`, []string{`spec.type: Unsupported value: "Magic": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"`}},
		{"unknown affinity", `"sessionAffinity":"X"`, []string{`spec.sessionAffinity: Unsupported value: "X": supported values: "ClientIP", "None"`}},
		{"affinity for a day", `"sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":86400}}`, nil},
		{"affinity for longer", `"sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":86401}}`,
			[]string{`spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400`}},
		{"affinity for no time", `"sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":0}}`,
			[]string{`spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than 86400`}},
		{"selector", `"selector":{"a b":"c"}`, []string{`spec.selector: Invalid value: "a b": name part must consist…`}},
		{"externalIPs", `"externalIPs":["1.2.3.4","x","127.0.0.1","0.0.0.0","169.254.1.1","224.0.0.5"]`, []string{
			`spec.externalIPs[1]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
			`spec.externalIPs[2]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)`,
			`spec.externalIPs[3]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0 or ::)`,
			`spec.externalIPs[4]: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)`,
			`spec.externalIPs[5]: Invalid value: "224.0.0.5": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)`}},
		{"loadBalancerSourceRanges", balancer + `"loadBalancerSourceRanges":["10.0.0.0/8"," 1.2.3.4/32 ","x"]`, []string{
			`spec.LoadBalancerSourceRanges[2]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`}},
		{"loadBalancerSourceRanges of another type", `"loadBalancerSourceRanges":["10.0.0.0/8"]`, []string{"spec.LoadBalancerSourceRanges: " + onlyLoadBalancerMsg}},
		{"loadBalancerClass", balancer + `"loadBalancerClass":"e.com/x"`, nil},
		{"loadBalancerClass of no form", balancer + `"loadBalancerClass":"e.com/x/y"`, []string{`spec.loadBalancerClass: Invalid value: "e.com/x/y": a qualified name…`}},
		{"loadBalancerClass of another type", `"loadBalancerClass":"e.com/x"`, []string{"spec.loadBalancerClass: " + onlyLoadBalancerMsg}},
		{"allocateLoadBalancerNodePorts", `"allocateLoadBalancerNodePorts":false`, []string{"spec.allocateLoadBalancerNodePorts: " + onlyLoadBalancerMsg}},
		{"externalTrafficPolicy", `"externalTrafficPolicy":"Local"`, []string{`spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services`}},
		{"unknown externalTrafficPolicy", balancer + `"externalTrafficPolicy":"X"`, []string{`spec.externalTrafficPolicy: Unsupported value: "X": supported values: "Cluster", "Local"`}},
		{"internalTrafficPolicy", `"internalTrafficPolicy":"Local"`, nil},
		{"unknown internalTrafficPolicy", `"internalTrafficPolicy":"X"`, []string{`spec.internalTrafficPolicy: Unsupported value: "X": supported values: "Cluster", "Local"`}},
		{"healthCheckNodePort", balancer + `"externalTrafficPolicy":"Local","healthCheckNodePort":30000`, nil},
		{"healthCheckNodePort that is no port", balancer + `"externalTrafficPolicy":"Local","healthCheckNodePort":70000`, []string{`spec.healthCheckNodePort: Invalid value: 70000: must be between 1 and 65535, inclusive`}},
		{"healthCheckNodePort of another policy", balancer + `"healthCheckNodePort":30000`, []string{"spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"}},
		{"trafficDistribution", `"trafficDistribution":"X"`, []string{`spec.trafficDistribution: Unsupported value: "X": supported values: "PreferClose", "PreferSameNode", "PreferSameZone"`}},
		{"the port of node agents", balancer + `"ports":[{"port":10250}]`, []string{`spec.ports[0]: Invalid value: 10250: may not expose port 10250 externally since it is used by kubelet`}},
		{"headless LoadBalancer", balancer + `"clusterIP":"None"`, []string{`spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for LoadBalancer services`}},
		{"headless NodePort", `"type":"NodePort","clusterIP":"None"`, []string{`spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services`}},
		{"ExternalName", `"type":"ExternalName","externalName":"a.b."`, nil},
		{"ExternalName without", `"type":"ExternalName"`, []string{`spec.externalName: Required value`}},
		{"ExternalName in capitals", `"type":"ExternalName","externalName":"A.b"`, []string{`spec.externalName: Invalid value: "A.b": a lowercase RFC 1123 subdomain…`}},
		{"ExternalName with addresses", `"type":"ExternalName","externalName":"a.b","clusterIP":"10.0.0.1","ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"`, []string{
			`spec.clusterIPs: Forbidden: may not be set for ExternalName services`, `spec.ipFamilies: Forbidden: may not be set for ExternalName services`,
			`spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services`}},
	})
	k := coreKind(t, meta.Platform, "Service")
	obj := named(k, parseTree(t, `{"metadata":{"name":"1x","annotations":{"`+mode+`":"a","service.platform.io/topology-aware-hints":"b","service.beta.platform.io/load-balancer-source-ranges":"10.0.0.0/8, x"}},"spec":{`+balancer+onePort+`}}`))
	expect(t, "name and annotations", create(k, obj), []string{`metadata.name: Invalid value: "1x": a DNS-1035 label…`,
		`metadata.annotations[` + mode + `]: Invalid value: "a": must match annotations[service.platform.io/topology-aware-hints] when both are specified`,
		`metadata.annotations[service.beta.platform.io/load-balancer-source-ranges]: Invalid value: "x": must be a valid CIDR value…`})
	obj = named(k, parseTree(t, `{"metadata":{"annotations":{"service.beta.platform.io/load-balancer-source-ranges":""}},"spec":{`+onePort+`}}`))
	expect(t, "annotation of another type", create(k, obj), []string{`metadata.annotations[service.beta.platform.io/load-balancer-source-ranges]: ` + onlyLoadBalancerMsg})
}

func TestServicePorts(t *testing.T) {
	runCreateCases(t, coreKind(t, meta.Platform, "Service"), `"type":"NodePort"`, []createCase{
		{"several", `"ports":[{"name":"a","port":80,"nodePort":30000},{"name":"b","port":80,"protocol":"UDP","nodePort":30000}]`, nil},
		{"no number", `"ports":[{"port":0,"targetPort":1}]`, []string{`spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive`}},
		{"not named", `"ports":[{"port":1},{"name":"b","port":2}]`, []string{`spec.ports[0].name: Required value`}},
		{"named alike", `"ports":[{"name":"b","port":1},{"name":"b","port":2}]`, []string{`spec.ports[1].name: Duplicate value: "b"`}},
		{"name", `"ports":[{"name":"A","port":1}]`, []string{`spec.ports[0].name: Invalid value: "A": a lowercase RFC 1123 label…`}},
		{"protocol", `"ports":[{"port":1,"protocol":"X"}]`, []string{`spec.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`}},
		{"targetPort", `"ports":[{"port":1,"targetPort":70000}]`, []string{`spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive`}},
		{"targetPort by name", `"ports":[{"port":1,"targetPort":"-"}]`, []string{`spec.ports[0].targetPort: Invalid value: "-": must contain at least one letter (a-z)`, `spec.ports[0].targetPort: Invalid value: "-": must not begin or end with a hyphen`}},
		{"appProtocol", `"ports":[{"port":1,"appProtocol":"a b"}]`, []string{`spec.ports[0].appProtocol: Invalid value: "a b": name part must consist…`}},
		{"repeated", `"ports":[{"name":"a","port":1},{"name":"b","port":1}]`, []string{`spec.ports[1]: Duplicate value: {"port":1,"protocol":"TCP"}`}},
		{"node port repeated", `"ports":[{"name":"a","port":1,"nodePort":30000},{"name":"b","port":2,"nodePort":30000}]`, []string{`spec.ports[1].nodePort: Duplicate value: 30000`}},
		{"node port of a ClusterIP", `"type":"ClusterIP","ports":[{"port":1,"nodePort":30000}]`, []string{"spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"}},
	})
}

func TestServiceAddresses(t *testing.T) {
	runCreateCases(t, coreKind(t, meta.Platform, "Service"), onePort, []createCase{
		{"an address", `"clusterIP":"10.0.0.5"`, nil},
		{"both", `"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5","fd00::5"],"ipFamilies":["IPv4","IPv6"]`, nil},
		{"no address", `"clusterIP":"x"`, []string{`spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`}},
		{"others", `"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.6"]`, []string{"spec.clusterIPs: Invalid value: [\"10.0.0.6\"]: first value must match `clusterIP`"}},
		{"clusterIPs alone", `"clusterIPs":["10.0.0.6"]`, []string{"spec.clusterIPs: Invalid value: [\"10.0.0.6\"]: must be empty when `clusterIP` is not specified"}},
		{"None and more", `"clusterIP":"None","clusterIPs":["None","10.0.0.6"]`, []string{`spec.clusterIPs: Invalid value: ["None","10.0.0.6"]: 'None' must be the first and only value`}},
		{"three", `"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5","fd00::5","10.0.0.7"]`, []string{`spec.clusterIPs: Invalid value: ["10.0.0.5","fd00::5","10.0.0.7"]: may only hold up to 2 values`}},
		{"one family twice", `"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5","10.0.0.7"]`, []string{`spec.clusterIPs: Invalid value: ["10.0.0.5","10.0.0.7"]: may specify no more than one IP for each IP family`}},
		{"other families", `"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5","fd00::5"],"ipFamilies":["IPv6","IPv4"]`, []string{
			"spec.clusterIPs[0]: Invalid value: \"10.0.0.5\": expected an IPv6 value as indicated by `ipFamilies[0]`",
			"spec.clusterIPs[1]: Invalid value: \"fd00::5\": expected an IPv4 value as indicated by `ipFamilies[1]`"}},
		{"families", `"ipFamilies":["IPv4","IPv4","X"]`, []string{`spec.ipFamilies[1]: Duplicate value: "IPv4"`, `spec.ipFamilies[2]: Unsupported value: "X": supported values: "IPv4", "IPv6"`}},
		{"policy", `"ipFamilyPolicy":"X"`, []string{`spec.ipFamilyPolicy: Unsupported value: "X": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"`}},
	})
}

func TestServiceStatus(t *testing.T) {
	k := coreKind(t, meta.Platform, "Service")
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
			`status.conditions[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero`,
			`status.conditions[0].lastTransitionTime: Required value: must be set`, `status.conditions[0].reason: Required value: must be set`}},
		{`{"conditions":[{"type":"A","status":"True","reason":"not so","lastTransitionTime":"2020-01-01T00:00:00Z","message":"` + strings.Repeat("m", 32769) + `"}]}`, []string{
			`status.conditions[0].reason: Invalid value: "not so": a condition reason must start with alphabetic character…`, `status.conditions[0].message: Too long: may not be more than 32768 bytes`}},
	} {
		obj := named(k, parseTree(t, `{"spec":{"type":"LoadBalancer",`+onePort+`}}`))
		create(k, obj)
		obj["status"] = parseTree(t, c.status)
		expect(t, c.status[:min(len(c.status), 99)], lines(rules.Validate(k, obj)), c.want)
	}
}

// What has been handed out stays if an update leaves it out; what a new type has no use for
// goes, unless the update changes it.
func TestServiceUpdate(t *testing.T) {
	k := coreKind(t, meta.Platform, "Service")
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
		old := named(k, parseTree(t, `{"spec":{`+c.old+`},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4","ipMode":"VIP"}]}}}`))
		now := named(k, tree.Tree{"spec": merged(t, c.now, `"x":null`)})
		update(k, now, old)
		equalJSON(t, c.name, now["spec"], c.want)
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
	runSpecUpdateCases(t, coreKind(t, meta.Platform, "Service"), onePort, []specUpdateCase{
		{"nothing", one, ``, nil},
		{"another address", one, `"clusterIP":"10.0.0.6"`, []string{`spec.clusterIPs[0]: Invalid value: ["10.0.0.6"]: may not change once set`}},
		{"headless", one, `"clusterIP":"None"`, []string{`spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set`}},
		{"from headless", `"clusterIP":"None"`, `"clusterIP":"10.0.0.6"`, []string{`spec.clusterIPs[0]: Invalid value: ["10.0.0.6"]: may not change once set`}},
		{"another family", one, `"clusterIP":"fd00::5","clusterIPs":["fd00::5"],"ipFamilies":["IPv6"]`, []string{`spec.clusterIPs[0]: Invalid value: ["fd00::5"]: may not change once set`, `spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set`}},
		{"a second one", one, `"clusterIPs":["10.0.0.5","fd00::5"],"ipFamilies":["IPv4","IPv6"],"ipFamilyPolicy":"RequireDualStack"`, nil},
		{"a second one before the first", one, `"clusterIP":"fd00::5","clusterIPs":["fd00::5","10.0.0.5"],"ipFamilies":["IPv6","IPv4"],"ipFamilyPolicy":"RequireDualStack"`, []string{
			`spec.clusterIPs[0]: Invalid value: ["fd00::5","10.0.0.5"]: may not change once set`, `spec.ipFamilies[0]: Invalid value: ["IPv6","IPv4"]: may not change once set`}},
		{"without the second one", two, `"clusterIPs":["10.0.0.5"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"`, nil},
		{"without the second one by the way", two, `"clusterIPs":["10.0.0.5"],"ipFamilies":["IPv4"]`, []string{
			`spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to 'SingleStack' when releasing the secondary clusterIP`,
			`spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to 'SingleStack' when releasing the secondary ipFamily`}},
		{"to ExternalName with an address", one, outer + `,"clusterIP":"10.0.0.6"`, []string{`spec.clusterIPs: Forbidden: may not be set for ExternalName services`}},
		{"from ExternalName", outer, `"type":"ClusterIP","clusterIP":"10.0.0.6"`, nil},
		{"another class", balancer + `"loadBalancerClass":"e.com/x"`, `"loadBalancerClass":"e.com/y"`, []string{`spec.loadBalancerClass: Invalid value: "e.com/y": may not change once set`}},
		{"a first class", balancer + `"sessionAffinity":"None"`, `"loadBalancerClass":"e.com/y"`, []string{`spec.loadBalancerClass: Invalid value: "e.com/y": may not change once set`}},
		{"another port for health checks", balancer + `"externalTrafficPolicy":"Local","healthCheckNodePort":30000`, `"healthCheckNodePort":30001`, []string{
			`spec.healthCheckNodePort: Invalid value: 30001: cannot change healthCheckNodePort on loadBalancer service with externalTraffic=Local during update`}},
	})
}

func TestServiceWarnings(t *testing.T) {
	k := coreKind(t, meta.Kubernetes, "Service")
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
		obj := named(k, parseTree(t, `{"spec":{`+c.spec+`}}`))
		create(k, obj)
		if got := k.Rules.Warn(obj, nil); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", c.spec, got)
		}
	}
	obj := parseTree(t, `{"metadata":{"annotations":{"service.kubernetes.io/topology-aware-hints":"Auto"}}}`)
	expect(t, "annotation", k.Rules.Warn(obj, nil), []string{"annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead"})
}
