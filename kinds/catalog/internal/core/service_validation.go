package core

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/catalog/service"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// nodeAgentPort is the port of the kubelet, which load balancers must not expose. Its API can run commands
// in any container of the node; a load balancer for this port is hardly ever meant.
const nodeAgentPort = 10250

// validateService checks the spec. The order of its parts is the order of the causes in a Status, which
// clients print as they are. An ExternalName is only an alias in DNS: it has neither ports nor addresses to
// check.
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
	validateSourceRanges(spec, kind, faults)
	validateLoadBalancerSpec(spec, kind, faults)
	validateTrafficPolicy(spec, faults)
}

// validateServiceType checks the fields that a type requires or forbids. A load balancer is a NodePort
// Service with something in front, hence the fall-through: neither can be without a cluster address. The
// trailing dot of an absolute DNS name is allowed in externalName.
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

// validateServicePorts makes two passes so that the faults of single ports come before those of pairs. Node
// ports are unique for each protocol: TCP and UDP of one number are different sockets on the node, as DNS
// needs.
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

// validateServicePort checks the name of one port; names are the names of the ports before it. Names become
// necessary with the second port: Endpoints and Ingresses refer to a port by its name.
func validateServicePort(p tree.Tree, at string, named bool, names map[string]bool, faults *schema.Faults) {
	name := p.String("name")
	switch {
	case name != "":
		if names[name] {
			faults.Duplicate(at+".name", name)
		}
		names[name] = true
	case named:
		faults.Required(at + ".name")
	}
}

// The upper bound is one day in seconds. It is itself allowed, unlike what the message says.
func validateSessionAffinity(spec tree.Tree, faults *schema.Faults) {
	if spec.String("sessionAffinity") != "ClientIP" {
		return
	}
	if n, _ := spec.Object("sessionAffinityConfig", "clientIP").Int("timeoutSeconds"); n <= 0 || n > 86400 {
		faults.Invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", n, "must be greater than 0 and less than 86400")
	}
}

// validateSourceRanges checks loadBalancerSourceRanges. Clients expect the capital letter in the path.
// Spaces around a range are tolerated because the annotation that preceded the field was split at commas.
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

// onlyLoadBalancerMsg is shared by the field and the annotation for the same purpose.
const onlyLoadBalancerMsg = "may only be used when `type` is 'LoadBalancer'"

// validateLoadBalancerSpec refuses these two for other types even when empty, because a controller of load
// balancers acts on their presence.
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

// The health check port tells a balancer which nodes have a Pod of the Service. This only matters with the
// policy Local, where the other nodes drop the traffic.
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

// ValidateUpdate keeps what an outside party was told already: the controller chosen by
// loadBalancerClass owns the balancer and would not clean up after a change, and the balancer polls
// the health check port that it was configured with.
func (serviceStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	spec, was := obj.Object("spec"), old.Object("spec")
	validateClusterIPsUpdate(spec, was, faults)
	if spec.String("type") == service.TypeLoadBalancer && was.String("type") == service.TypeLoadBalancer &&
		!tree.SemanticEqual(spec["loadBalancerClass"], was["loadBalancerClass"]) {
		faults.Invalid("spec.loadBalancerClass", spec["loadBalancerClass"], "may not change once set")
	}
	if service.NeedsHealthCheck(spec) && service.NeedsHealthCheck(was) && !tree.SemanticEqual(spec["healthCheckNodePort"], was["healthCheckNodePort"]) {
		faults.Forbidden("spec.healthCheckNodePort", "field is immutable")
	}
}

// serviceAnnotations are the annotations that configure a Service, in the spelling of a profile. They came
// before the fields of the same purpose and are still read by proxies and cloud controllers.
type serviceAnnotations struct{ hints, mode, sourceRanges string }

// validate looks at the ranges of the annotation only where the field is absent, which is when they take
// effect.
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
