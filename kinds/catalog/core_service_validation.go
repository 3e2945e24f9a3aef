package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// nodeAgentPort is where the agent of every node listens. Load balancers must not lead there.
const nodeAgentPort = 10250

func validateService(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Nested(obj, "spec")
	kind := rules.String(spec, "type")
	if len(rules.Items(spec, "ports")) == 0 && !ServiceIsHeadless(spec) && kind != typeExternalName {
		faults.Required("spec.ports")
	}
	validateServiceType(spec, kind, faults)
	validateServicePorts(spec, kind, faults)
	rules.ValidateLabels(rules.Nested(spec, "selector"), "spec.selector", faults)
	validateSessionAffinity(spec, faults)
	if kind != typeExternalName {
		ValidateServiceClusterIPs(spec, faults)
	}
	for i, ip := range rules.Strings(spec, "externalIPs") {
		validateEndpointIP(ip, rules.IndexPath("spec.externalIPs", i), faults)
	}
	validateSourceRanges(spec, kind, faults)
	validateLoadBalancerSpec(spec, kind, faults)
	validateTrafficPolicy(spec, faults)
}

// validateServiceType checks what a type demands or forbids as a whole.
func validateServiceType(spec schema.Tree, kind string, faults *schema.Faults) {
	switch kind {
	case typeLoadBalancer:
		for i, p := range rules.Trees(spec, "ports") {
			if n, _ := rules.Int(p, "port"); n == nodeAgentPort {
				faults.Invalid(rules.IndexPath("spec.ports", i), n, fmt.Sprintf("may not expose port %d externally since it is used by kubelet", n))
			}
		}
		fallthrough
	case typeNodePort:
		if ServiceIsHeadless(spec) {
			faults.Invalid("spec.clusterIPs[0]", noClusterIP, "may not be set to 'None' for "+kind+" services")
		}
	case typeExternalName:
		for _, name := range []string{"clusterIPs", "ipFamilies", "ipFamilyPolicy"} {
			if !rules.Empty(spec[name]) {
				faults.Forbidden("spec."+name, "may not be set for ExternalName services")
			}
		}
		name := strings.TrimSuffix(rules.String(spec, "externalName"), ".")
		if name == "" {
			faults.Required("spec.externalName")
			return
		}
		for _, msg := range rules.Subdomain(name) {
			faults.Invalid("spec.externalName", name, msg)
		}
	}
}

func validateServicePorts(spec schema.Tree, kind string, faults *schema.Faults) {
	ports := rules.Trees(spec, "ports")
	names := map[string]bool{}
	for i, p := range ports {
		at := rules.IndexPath("spec.ports", i)
		validateServicePort(p, at, len(ports) > 1, names, faults)
		if n, _ := rules.Int(p, "nodePort"); n != 0 && kind == typeClusterIP {
			faults.Forbidden(at+".nodePort", "may not be used when `type` is 'ClusterIP'")
		}
	}
	onNodes := map[string]bool{}
	for i, p := range ports {
		n, _ := rules.Int(p, "nodePort")
		key := fmt.Sprint(rules.String(p, "protocol"), n)
		if n != 0 && onNodes[key] {
			faults.Duplicate(rules.IndexPath("spec.ports", i)+".nodePort", n)
		}
		onNodes[key] = true
	}
}

// validateServicePort checks one port; names are those of the ports before it.
func validateServicePort(p schema.Tree, at string, named bool, names map[string]bool, faults *schema.Faults) {
	name := rules.String(p, "name")
	switch {
	case name != "":
		validateFormat(p, "name", at, faults, rules.Label)
		if names[name] {
			faults.Duplicate(at+".name", name)
		}
		names[name] = true
	case named:
		faults.Required(at + ".name")
	}
	port, _ := rules.Int(p, "port")
	validatePortNumber(port, at+".port", faults)
	validateIntOrStringPort(p["targetPort"], at+".targetPort", faults)
	if rules.Has(p, "appProtocol") {
		validateQualifiedName(rules.String(p, "appProtocol"), at+".appProtocol", faults)
	}
}

func validateSessionAffinity(spec schema.Tree, faults *schema.Faults) {
	if rules.String(spec, "sessionAffinity") != "ClientIP" {
		return
	}
	if n, _ := rules.Int(rules.Nested(spec, "sessionAffinityConfig", "clientIP"), "timeoutSeconds"); n <= 0 || n > 86400 {
		faults.Invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", n, "must be greater than 0 and less than 86400")
	}
}

// validateSourceRanges checks the clients of a load balancer. The capital letter of the
// path is how users know it.
func validateSourceRanges(spec schema.Tree, kind string, faults *schema.Faults) {
	const path = "spec.LoadBalancerSourceRanges"
	ranges := rules.Strings(spec, "loadBalancerSourceRanges")
	if len(ranges) > 0 && kind != typeLoadBalancer {
		faults.Forbidden(path, onlyLoadBalancerMsg)
	}
	for i, r := range ranges {
		r = strings.TrimSpace(r)
		for _, msg := range rules.CIDR(r) {
			faults.Invalid(rules.IndexPath(path, i), r, msg)
		}
	}
}

const onlyLoadBalancerMsg = "may only be used when `type` is 'LoadBalancer'"

func validateLoadBalancerSpec(spec schema.Tree, kind string, faults *schema.Faults) {
	if kind != typeLoadBalancer {
		for _, name := range []string{"allocateLoadBalancerNodePorts", "loadBalancerClass"} {
			if rules.Has(spec, name) {
				faults.Forbidden("spec."+name, onlyLoadBalancerMsg)
			}
		}
		return
	}
	if rules.Has(spec, "loadBalancerClass") {
		validateQualifiedName(rules.String(spec, "loadBalancerClass"), "spec.loadBalancerClass", faults)
	}
}

func validateTrafficPolicy(spec schema.Tree, faults *schema.Faults) {
	if policy := rules.String(spec, "externalTrafficPolicy"); policy != "" && !isExternal(spec) {
		faults.Invalid("spec.externalTrafficPolicy", policy, "may only be set for externally-accessible services")
	}
	port, _ := rules.Int(spec, "healthCheckNodePort")
	switch {
	case port == 0:
	case !ServiceNeedsHealthCheck(spec):
		faults.Invalid("spec.healthCheckNodePort", port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")
	default:
		validatePortNumber(port, "spec.healthCheckNodePort", faults)
	}
}

func validateServiceUpdate(obj, old schema.Tree, faults *schema.Faults) {
	spec, was := rules.Nested(obj, "spec"), rules.Nested(old, "spec")
	validateClusterIPsUpdate(spec, was, faults)
	if rules.String(spec, "type") == typeLoadBalancer && rules.String(was, "type") == typeLoadBalancer &&
		!rules.SemanticEqual(spec["loadBalancerClass"], was["loadBalancerClass"]) {
		faults.Invalid("spec.loadBalancerClass", spec["loadBalancerClass"], "may not change once set")
	}
	if ServiceNeedsHealthCheck(spec) && ServiceNeedsHealthCheck(was) && !rules.SemanticEqual(spec["healthCheckNodePort"], was["healthCheckNodePort"]) {
		faults.Invalid("spec.healthCheckNodePort", spec["healthCheckNodePort"],
			"cannot change healthCheckNodePort on loadBalancer service with externalTraffic=Local during update")
	}
}

// serviceAnnotations are the annotations of a Service that mean something, as the profile
// spells them.
type serviceAnnotations struct{ hints, mode, sourceRanges string }

func (a serviceAnnotations) validate(obj schema.Tree, faults *schema.Faults) {
	const path = "metadata.annotations"
	set := rules.Nested(obj, "metadata", "annotations")
	if rules.Has(set, a.hints) && rules.Has(set, a.mode) && set[a.hints] != set[a.mode] {
		faults.Invalid(rules.KeyPath(path, a.mode), set[a.mode], "must match annotations["+a.hints+"] when both are specified")
	}
	spec := rules.Nested(obj, "spec")
	if !rules.Has(set, a.sourceRanges) || len(rules.Items(spec, "loadBalancerSourceRanges")) > 0 {
		return
	}
	at, text := rules.KeyPath(path, a.sourceRanges), strings.TrimSpace(rules.String(set, a.sourceRanges))
	if rules.String(spec, "type") != typeLoadBalancer {
		faults.Forbidden(at, onlyLoadBalancerMsg)
	}
	if text == "" {
		return
	}
	for r := range strings.SplitSeq(text, ",") {
		r = strings.TrimSpace(r)
		for _, msg := range rules.CIDR(r) {
			faults.Invalid(at, r, msg)
		}
	}
}

// warn tells of what is accepted but does nothing, or should be written otherwise.
func (a serviceAnnotations) warn(obj, _ schema.Tree) []string {
	var out []string
	say := func(when bool, text string) {
		if when {
			out = append(out, text)
		}
	}
	spec := rules.Nested(obj, "spec")
	kind := rules.String(spec, "type")
	say(rules.Has(rules.Nested(obj, "metadata", "annotations"), a.hints), fmt.Sprintf("annotation %s is deprecated, please use %s instead", a.hints, a.mode))
	if kind == typeClusterIP && ServiceIsHeadless(spec) {
		say(rules.String(spec, "loadBalancerIP") != "", "spec.loadBalancerIP is ignored for headless services")
		say(len(rules.Items(spec, "externalIPs")) > 0, "spec.externalIPs is ignored for headless services")
		say(rules.String(spec, "sessionAffinity") != "None", "spec.SessionAffinity is ignored for headless services")
	}
	say(kind == typeExternalName && len(rules.Items(spec, "externalIPs")) > 0, `spec.externalIPs is ignored when spec.type is "ExternalName"`)
	say(kind != typeExternalName && rules.String(spec, "externalName") != "", `spec.externalName is ignored when spec.type is not "ExternalName"`)
	say(rules.String(spec, "trafficDistribution") == "PreferClose", `spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"`)
	return slices.Clip(out)
}
