package networking

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The class annotation is only looked at in a create that comes through this version: stored objects may have both,
// and must stay writable.
type ingressStrategy struct {
	schema.DefaultStrategy
	class string // the deprecated annotation
}

func (s ingressStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	if old == nil {
		validateClassAnnotation(obj, s.class, faults)
	}
}

// Prepare gives a new Ingress an empty status.
//
// Whoever creates an Ingress cannot say that it has an address already: that is for the controller to say, through
// the sub-resource.
func (ingressStrategy) Prepare(obj, old tree.Tree) {
	if old == nil {
		obj["status"] = tree.Tree{"loadBalancer": tree.Tree{}}
	}
}

// validateClassAnnotation refuses a new Ingress with both the deprecated class annotation and the field.
func validateClassAnnotation(obj tree.Tree, annotation string, faults *schema.Faults) {
	spec := obj.Object("spec")
	was, given := obj.Object("metadata", "annotations")[annotation]
	if given && spec.Has("ingressClassName") && was != spec["ingressClassName"] {
		faults.Invalid("annotations."+annotation, was, "must match `ingressClassName` when both are specified")
	}
}

// Validate checks what every controller relies on: there is something to route to, hosts are names,
// and paths mean the same to all. None of it depends on which controller runs.
func (ingressStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	backend, list := spec.Object("defaultBackend"), spec.Objects("rules")
	if len(list) == 0 && backend == nil {
		faults.Invalid("spec", spec.List("rules"), "either `defaultBackend` or `rules` must be specified")
	}
	if backend != nil {
		validateIngressBackend(backend, "spec.defaultBackend", faults)
	}
	for i, r := range list {
		validateIngressRule(r, tree.IndexPath("spec.rules", i), faults)
	}
	for i, t := range spec.Objects("tls") {
		at := tree.IndexPath("spec.tls", i)
		for j, host := range t.Strings("hosts") {
			validateHost(host, tree.IndexPath(at+".hosts", j), faults)
		}
	}
	field.LoadBalancerStatus(obj.Object("status", "loadBalancer"), "status.loadBalancer", faults)
}

// validateHost checks a host name, which may begin with the wildcard "*.". The wildcard stands for exactly
// one label, and only in front.
func validateHost(host, path string, faults *schema.Faults) {
	check := rules.Subdomain
	if strings.Contains(host, "*") {
		check = rules.WildcardSubdomain
	}
	for _, msg := range check(host) {
		faults.Invalid(path, host, msg)
	}
}

// An address as a host would never match, because clients send names in the Host header; so it is refused and not
// ignored.
func validateIngressRule(r tree.Tree, at string, faults *schema.Faults) {
	if host := r.String("host"); host != "" {
		if field.IsIP(host) {
			faults.Invalid(at+".host", host, field.NotAnIP)
		}
		validateHost(host, at+".host", faults)
	}
	for i, p := range r.Object("http").Objects("paths") {
		validateIngressPath(p, tree.IndexPath(at+".http.paths", i), faults)
	}
}

// An empty path is only allowed where the controller gives it a meaning (ImplementationSpecific).
func validateIngressPath(p tree.Tree, at string, faults *schema.Faults) {
	if !p.Has("pathType") {
		faults.Required(at+".pathType", "pathType must be specified")
		return
	}
	path := p.String("path")
	switch p.String("pathType") {
	case "Exact", "Prefix":
		validatePlainPath(path, at+".path", faults)
	case "ImplementationSpecific":
		if path != "" {
			validateAbsolute(path, at+".path", faults)
		}
	}
	validateIngressBackend(p.Object("backend"), at+".backend", faults)
}

// validateAbsolute requires a slash in front: paths of requests have one, so nothing else could match.
func validateAbsolute(path, at string, faults *schema.Faults) {
	for _, msg := range rules.AbsolutePath(path) {
		faults.Invalid(at, path, msg)
	}
}

// validatePlainPath refuses paths that cleaning or decoding would change.
//
// A proxy in between may clean or decode a path; "/a/../b" would then be matched as "/b", around the rule that was
// meant to hold for it.
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

// validateIngressBackend checks a backend: a port of a Service, or another object. The other object is for
// controllers that route to more than Services, as to a bucket of static files.
func validateIngressBackend(b tree.Tree, at string, faults *schema.Faults) {
	service, resource := b.Object("service"), b.Object("resource")
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

// The number is compared with 0 and not only for presence, since 0 is what a client sends that means none.
func validateServiceBackend(s tree.Tree, at string, faults *schema.Faults) {
	field.Require(s, at+".service", faults, "name")
	field.Format(s, "name", at+".service", faults, rules.Label1035)
	port := s.Object("port")
	number, _ := port.Int("number")
	switch name := port.String("name"); {
	case name != "" && number != 0:
		faults.Invalid(at, "", "cannot set both port name & port number")
	case name != "":
		field.Format(port, "name", at+".service.port", faults, rules.PortName)
	case number != 0:
		field.PortNumber(number, at+".service.port.number", faults)
	default:
		faults.Required(at, "port name or number is required")
	}
}

// validateLocalRef checks a reference by group, kind and name.
//
// The kind need not be one that is served: it may belong to a controller whose definition comes later.
func validateLocalRef(ref tree.Tree, at string, faults *schema.Faults) {
	if ref.Has("apiGroup") {
		for _, msg := range rules.Subdomain(ref.String("apiGroup")) {
			faults.Invalid(at+".apiGroup", ref["apiGroup"], msg)
		}
	}
	field.Require(ref, at, faults, "kind", "name")
	field.Format(ref, "kind", at, faults, rules.PathSegment)
	field.Format(ref, "name", at, faults, rules.PathSegment)
}
