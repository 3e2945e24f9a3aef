package catalog

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func ingressRules(n *meta.Naming) schema.Rules {
	class := n.Translate("platform.io/ingress.class")
	return schema.Rules{
		Prepare: prepareIngress,
		ValidateServed: func(obj, old schema.Tree, faults *schema.Faults) {
			if old == nil {
				validateClassAnnotation(obj, class, faults)
			}
		},
		Validate: validateIngress,
	}
}

// prepareIngress begins without a status.
func prepareIngress(obj, old schema.Tree) {
	if old == nil {
		obj["status"] = schema.Tree{"loadBalancer": schema.Tree{}}
	}
}

// validateClassAnnotation lets the former way to name a class say nothing else.
func validateClassAnnotation(obj schema.Tree, annotation string, faults *schema.Faults) {
	spec := rules.Nested(obj, "spec")
	was, given := rules.Nested(obj, "metadata", "annotations")[annotation]
	if given && rules.Has(spec, "ingressClassName") && was != spec["ingressClassName"] {
		faults.Invalid("annotations."+annotation, was, "must match `ingressClassName` when both are specified")
	}
}

func validateIngress(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Nested(obj, "spec")
	backend, list := rules.Nested(spec, "defaultBackend"), rules.Trees(spec, "rules")
	if len(list) == 0 && backend == nil {
		faults.Invalid("spec", rules.Items(spec, "rules"), "either `defaultBackend` or `rules` must be specified")
	}
	if backend != nil {
		validateIngressBackend(backend, "spec.defaultBackend", faults)
	}
	for i, r := range list {
		validateIngressRule(r, rules.IndexPath("spec.rules", i), faults)
	}
	for i, t := range rules.Trees(spec, "tls") {
		at := rules.IndexPath("spec.tls", i)
		for j, host := range rules.Strings(t, "hosts") {
			validateHost(host, rules.IndexPath(at+".hosts", j), faults)
		}
		validateFormat(t, "secretName", at, faults, rules.Subdomain)
	}
	if rules.Has(spec, "ingressClassName") {
		for _, msg := range rules.Subdomain(rules.String(spec, "ingressClassName")) {
			faults.Invalid("spec.ingressClassName", spec["ingressClassName"], msg)
		}
	}
	validateLoadBalancerStatus(rules.Nested(obj, "status", "loadBalancer"), "status.loadBalancer", faults)
}

// validateHost checks a domain whose first label may be a star.
func validateHost(host, path string, faults *schema.Faults) {
	check := rules.Subdomain
	if strings.Contains(host, "*") {
		check = rules.WildcardSubdomain
	}
	for _, msg := range check(host) {
		faults.Invalid(path, host, msg)
	}
}

func validateIngressRule(r schema.Tree, at string, faults *schema.Faults) {
	if host := rules.String(r, "host"); host != "" {
		if isIP(host) {
			faults.Invalid(at+".host", host, notAnIP)
		}
		validateHost(host, at+".host", faults)
	}
	http := rules.Nested(r, "http")
	if http == nil {
		return
	}
	paths := rules.Trees(http, "paths")
	if len(paths) == 0 {
		faults.Required(at + ".http.paths")
	}
	for i, p := range paths {
		validateIngressPath(p, rules.IndexPath(at+".http.paths", i), faults)
	}
}

func validateIngressPath(p schema.Tree, at string, faults *schema.Faults) {
	path := rules.String(p, "path")
	switch rules.String(p, "pathType") {
	case "":
		faults.Required(at+".pathType", "pathType must be specified")
		return
	case "Exact", "Prefix":
		validatePlainPath(path, at+".path", faults)
	case "ImplementationSpecific":
		if path != "" {
			validateAbsolute(path, at+".path", faults)
		}
	}
	validateIngressBackend(rules.Nested(p, "backend"), at+".backend", faults)
}

func validateAbsolute(path, at string, faults *schema.Faults) {
	for _, msg := range rules.AbsolutePath(path) {
		faults.Invalid(at, path, msg)
	}
}

// validatePlainPath checks a path that means the same however it is cleaned or decoded.
func validatePlainPath(path, at string, faults *schema.Faults) {
	validateAbsolute(path, at, faults)
	for _, part := range []string{"//", "/./", "/../", "%2f", "%2F"} {
		if strings.Contains(path, part) {
			faults.Invalid(at, path, "must not contain '"+part+"'")
		}
	}
	for _, end := range []string{"/..", "/."} {
		if strings.HasSuffix(path, end) {
			faults.Invalid(at, path, "cannot end with '"+end+"'")
		}
	}
}

// validateIngressBackend checks where requests are led: to a port of a Service, or to another object.
func validateIngressBackend(b schema.Tree, at string, faults *schema.Faults) {
	service, resource := rules.Nested(b, "service"), rules.Nested(b, "resource")
	switch {
	case service != nil && resource != nil:
		faults.Invalid(at, "", "cannot set both resource and service backends")
	case resource != nil:
		validateLocalRef(resource, at+".resource", faults)
	case service != nil:
		validateServiceBackend(service, at, faults)
	default:
		faults.Invalid(at, "", "resource or service backend is required")
	}
}

func validateServiceBackend(s schema.Tree, at string, faults *schema.Faults) {
	requireFields(s, at+".service", faults, "name")
	validateFormat(s, "name", at+".service", faults, rules.Label1035)
	port := rules.Nested(s, "port")
	number, _ := rules.Int(port, "number")
	switch name := rules.String(port, "name"); {
	case name != "" && number != 0:
		faults.Invalid(at, "", "cannot set both port name & port number")
	case name != "":
		validateFormat(port, "name", at+".service.port", faults, rules.PortName)
	case number != 0:
		validatePortNumber(number, at+".service.port.number", faults)
	default:
		faults.Required(at, "port name or number is required")
	}
}

// validateLocalRef checks a reference by group, kind and name.
func validateLocalRef(ref schema.Tree, at string, faults *schema.Faults) {
	if rules.Has(ref, "apiGroup") {
		for _, msg := range rules.Subdomain(rules.String(ref, "apiGroup")) {
			faults.Invalid(at+".apiGroup", ref["apiGroup"], msg)
		}
	}
	requireFields(ref, at, faults, "kind", "name")
	validateFormat(ref, "kind", at, faults, rules.PathSegment)
	validateFormat(ref, "name", at, faults, rules.PathSegment)
}
