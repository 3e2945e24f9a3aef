package core

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/service"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// nodeAgentPort is the port of the kubelet, which load balancers must not expose.
const nodeAgentPort = 10250

func validateService(obj tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	kind := spec.String("type")
	if len(spec.List("ports")) == 0 && !service.IsHeadless(spec) && kind != service.TypeExternalName {
		faults.Required("spec.ports")
	}
	validateServiceType(spec, kind, faults)
	validateServicePorts(spec, kind, faults)
	rules.ValidateLabels(spec.Object("selector"), "spec.selector", faults)
	validateSessionAffinity(spec, faults)
	if kind != service.TypeExternalName {
		service.ValidateClusterIPs(spec, faults)
	}
	for i, ip := range spec.Strings("externalIPs") {
		field.EndpointIP(ip, tree.IndexPath("spec.externalIPs", i), faults)
	}
	validateSourceRanges(spec, kind, faults)
	validateLoadBalancerSpec(spec, kind, faults)
	validateTrafficPolicy(spec, faults)
}

// validateServiceType checks the fields that a type requires or forbids.
func validateServiceType(spec tree.Tree, kind string, faults *schema.Faults) {
	switch kind {
	case service.TypeLoadBalancer:
		for i, p := range spec.Objects("ports") {
			if n, _ := p.Int("port"); n == nodeAgentPort {
				faults.Invalid(tree.IndexPath("spec.ports", i), n, fmt.Sprintf("may not expose port %d externally since it is used by kubelet", n))
			}
		}
		fallthrough
	case service.TypeNodePort:
		if service.IsHeadless(spec) {
			faults.Invalid("spec.clusterIPs[0]", service.NoClusterIP, "may not be set to 'None' for "+kind+" services")
		}
	case service.TypeExternalName:
		for _, name := range []string{"clusterIPs", "ipFamilies", "ipFamilyPolicy"} {
			if !tree.IsEmpty(spec[name]) {
				faults.Forbidden("spec."+name, "may not be set for ExternalName services")
			}
		}
		name := strings.TrimSuffix(spec.String("externalName"), ".")
		if name == "" {
			faults.Required("spec.externalName")
			return
		}
		for _, msg := range rules.Subdomain(name) {
			faults.Invalid("spec.externalName", name, msg)
		}
	}
}

func validateServicePorts(spec tree.Tree, kind string, faults *schema.Faults) {
	ports := spec.Objects("ports")
	names := map[string]bool{}
	for i, p := range ports {
		at := tree.IndexPath("spec.ports", i)
		validateServicePort(p, at, len(ports) > 1, names, faults)
		if n, _ := p.Int("nodePort"); n != 0 && kind == service.TypeClusterIP {
			faults.Forbidden(at+".nodePort", "may not be used when `type` is 'ClusterIP'")
		}
	}
	onNodes := map[string]bool{}
	for i, p := range ports {
		n, _ := p.Int("nodePort")
		key := fmt.Sprint(p.String("protocol"), n)
		if n != 0 && onNodes[key] {
			faults.Duplicate(tree.IndexPath("spec.ports", i)+".nodePort", n)
		}
		onNodes[key] = true
	}
}

// validateServicePort checks one port; names are the names of the ports before it.
func validateServicePort(p tree.Tree, at string, named bool, names map[string]bool, faults *schema.Faults) {
	name := p.String("name")
	switch {
	case name != "":
		field.Format(p, "name", at, faults, rules.Label)
		if names[name] {
			faults.Duplicate(at+".name", name)
		}
		names[name] = true
	case named:
		faults.Required(at + ".name")
	}
	port, _ := p.Int("port")
	field.PortNumber(port, at+".port", faults)
	field.IntOrStringPort(p["targetPort"], at+".targetPort", faults)
	if p.Has("appProtocol") {
		field.QualifiedName(p.String("appProtocol"), at+".appProtocol", faults)
	}
}

func validateSessionAffinity(spec tree.Tree, faults *schema.Faults) {
	if spec.String("sessionAffinity") != "ClientIP" {
		return
	}
	if n, _ := spec.Object("sessionAffinityConfig", "clientIP").Int("timeoutSeconds"); n <= 0 || n > 86400 {
		faults.Invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", n, "must be greater than 0 and less than 86400")
	}
}

// validateSourceRanges checks loadBalancerSourceRanges. Clients expect the capital letter in the path.
func validateSourceRanges(spec tree.Tree, kind string, faults *schema.Faults) {
	const path = "spec.LoadBalancerSourceRanges"
	ranges := spec.Strings("loadBalancerSourceRanges")
	if len(ranges) > 0 && kind != service.TypeLoadBalancer {
		faults.Forbidden(path, onlyLoadBalancerMsg)
	}
	for i, r := range ranges {
		r = strings.TrimSpace(r)
		for _, msg := range rules.CIDR(r) {
			faults.Invalid(tree.IndexPath(path, i), r, msg)
		}
	}
}

const onlyLoadBalancerMsg = "may only be used when `type` is 'LoadBalancer'"

func validateLoadBalancerSpec(spec tree.Tree, kind string, faults *schema.Faults) {
	if kind != service.TypeLoadBalancer {
		for _, name := range []string{"allocateLoadBalancerNodePorts", "loadBalancerClass"} {
			if spec.Has(name) {
				faults.Forbidden("spec."+name, onlyLoadBalancerMsg)
			}
		}
		return
	}
	if spec.Has("loadBalancerClass") {
		field.QualifiedName(spec.String("loadBalancerClass"), "spec.loadBalancerClass", faults)
	}
}

func validateTrafficPolicy(spec tree.Tree, faults *schema.Faults) {
	if policy := spec.String("externalTrafficPolicy"); policy != "" && !isExternal(spec) {
		faults.Invalid("spec.externalTrafficPolicy", policy, "may only be set for externally-accessible services")
	}
	port, _ := spec.Int("healthCheckNodePort")
	switch {
	case port == 0:
	case !service.NeedsHealthCheck(spec):
		faults.Invalid("spec.healthCheckNodePort", port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")
	default:
		field.PortNumber(port, "spec.healthCheckNodePort", faults)
	}
}

func validateServiceUpdate(obj, old tree.Tree, faults *schema.Faults) {
	spec, was := obj.Object("spec"), old.Object("spec")
	validateClusterIPsUpdate(spec, was, faults)
	if spec.String("type") == service.TypeLoadBalancer && was.String("type") == service.TypeLoadBalancer &&
		!tree.SemanticEqual(spec["loadBalancerClass"], was["loadBalancerClass"]) {
		faults.Invalid("spec.loadBalancerClass", spec["loadBalancerClass"], "may not change once set")
	}
	if service.NeedsHealthCheck(spec) && service.NeedsHealthCheck(was) && !tree.SemanticEqual(spec["healthCheckNodePort"], was["healthCheckNodePort"]) {
		faults.Invalid("spec.healthCheckNodePort", spec["healthCheckNodePort"],
			"cannot change healthCheckNodePort on loadBalancer service with externalTraffic=Local during update")
	}
}

// serviceAnnotations are the annotations that configure a Service, in the spelling of a profile.
type serviceAnnotations struct{ hints, mode, sourceRanges string }

func (a serviceAnnotations) validate(obj tree.Tree, faults *schema.Faults) {
	const path = "metadata.annotations"
	set := obj.Object("metadata", "annotations")
	if set.Has(a.hints) && set.Has(a.mode) && set[a.hints] != set[a.mode] {
		faults.Invalid(tree.KeyPath(path, a.mode), set[a.mode], "must match annotations["+a.hints+"] when both are specified")
	}
	spec := obj.Object("spec")
	if !set.Has(a.sourceRanges) || len(spec.List("loadBalancerSourceRanges")) > 0 {
		return
	}
	at, text := tree.KeyPath(path, a.sourceRanges), strings.TrimSpace(set.String(a.sourceRanges))
	if spec.String("type") != service.TypeLoadBalancer {
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

// warn returns warnings about fields that are accepted but deprecated or without effect.
func (a serviceAnnotations) warn(obj, _ tree.Tree) []string {
	var out []string
	say := func(when bool, text string) {
		if when {
			out = append(out, text)
		}
	}
	spec := obj.Object("spec")
	kind := spec.String("type")
	say(obj.Object("metadata", "annotations").Has(a.hints), fmt.Sprintf("annotation %s is deprecated, please use %s instead", a.hints, a.mode))
	if kind == service.TypeClusterIP && service.IsHeadless(spec) {
		say(spec.String("loadBalancerIP") != "", "spec.loadBalancerIP is ignored for headless services")
		say(len(spec.List("externalIPs")) > 0, "spec.externalIPs is ignored for headless services")
		say(spec.String("sessionAffinity") != "None", "spec.SessionAffinity is ignored for headless services")
	}
	say(kind == service.TypeExternalName && len(spec.List("externalIPs")) > 0, `spec.externalIPs is ignored when spec.type is "ExternalName"`)
	say(kind != service.TypeExternalName && spec.String("externalName") != "", `spec.externalName is ignored when spec.type is not "ExternalName"`)
	say(spec.String("trafficDistribution") == "PreferClose", `spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"`)
	return slices.Clip(out)
}
