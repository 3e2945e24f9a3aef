package catalog_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

// ingressWithPath is an Ingress with one path.
func ingressWithPath(path string) string {
	return `{"spec":{"rules":[{"http":{"paths":[{` + path + `}]}}]}}`
}

func TestIngress(t *testing.T) {
	const (
		to   = `"backend":{"service":{"name":"s","port":{"number":80}}}`
		at   = "spec.rules[0].http.paths[0]."
		base = `{"spec":{"defaultBackend":{"service":{"name":"s","port":{"name":"http"}}}`
	)
	k := kindInGroup(t, meta.Kubernetes, "networking.platform.io", "Ingress")
	runValidationCases(t, k, []validationCase{
		{obj: ingressWithPath(`"path":"/a","pathType":"Prefix",` + to)},
		{obj: ingressWithPath(`"pathType":"ImplementationSpecific",` + to)},
		{obj: base + `,"tls":[{"hosts":["a.b","*.b"],"secretName":"s"}],"ingressClassName":"c"}}`},
		{obj: `{}`, want: []string{"spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"}},
		{obj: ingressWithPath(to), want: []string{at + `pathType: Required value: pathType must be specified`}},
		{obj: ingressWithPath(`"pathType":"X",` + to), want: []string{at + `pathType: Unsupported value: "X": supported values: "Exact", "ImplementationSpecific", "Prefix"`}},
		{obj: ingressWithPath(`"pathType":"Exact",` + to), want: []string{at + `path: Invalid value: "": must be an absolute path`}},
		{obj: ingressWithPath(`"path":"x","pathType":"ImplementationSpecific",` + to), want: []string{at + `path: Invalid value: "x": must be an absolute path`}},
		{obj: ingressWithPath(`"path":"/a//b/./c/..","pathType":"Prefix",` + to), want: []string{at + `path: Invalid value: "/a//b/./c/..": must not contain '//'`,
			at + `path: Invalid value: "/a//b/./c/..": must not contain '/./'`, at + `path: Invalid value: "/a//b/./c/..": cannot end with '/..'`}},
		{obj: ingressWithPath(`"path":"/%2f","pathType":"Prefix",` + to), want: []string{at + `path: Invalid value: "/%2f": must not contain '%2f'`}},
		{obj: `{"spec":{"rules":[{"http":{"paths":[]}}]}}`, want: []string{`spec.rules[0].http.paths: Required value`}},
		{obj: `{"spec":{"rules":[{"host":"1.2.3.4"},{"host":"a.*.b"},{"host":"*.b"},{"host":"A"}]}}`, want: []string{`spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address`,
			`spec.rules[1].host: Invalid value: "a.*.b": a wildcard DNS-1123 subdomain must start with '*.'…`, `spec.rules[3].host: Invalid value: "A": a lowercase RFC 1123 subdomain…`}},
		{obj: base + `,"tls":[{"hosts":["A","*b"],"secretName":"S"}]}}`, want: []string{`spec.tls[0].hosts[0]: Invalid value: "A": a lowercase…`, `spec.tls[0].hosts[1]: Invalid value: "*b": a wildcard…`, `spec.tls[0].secretName: Invalid value: "S": a lowercase…`}},
		{obj: base + `,"ingressClassName":"C"}}`, want: []string{`spec.ingressClassName: Invalid value: "C": a lowercase…`}},
		{obj: `{"spec":{"defaultBackend":{}}}`, want: []string{`spec.defaultBackend: Invalid value: "": resource or service backend is required`}},
		{obj: `{"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":1}},"resource":{"kind":"k","name":"n"}}}}`, want: []string{`spec.defaultBackend: Invalid value: "": cannot set both resource and service backends`}},
		{obj: `{"spec":{"defaultBackend":{"service":{"port":{}}}}}`, want: []string{`spec.defaultBackend.service.name: Required value`, `spec.defaultBackend: Required value: port name or number is required`}},
		{obj: `{"spec":{"defaultBackend":{"service":{"name":"1","port":{"number":70000}}}}}`, want: []string{`spec.defaultBackend.service.name: Invalid value: "1": a DNS-1035 label…`, `spec.defaultBackend.service.port.number: Invalid value: 70000: ` + outOfPorts}},
		{obj: `{"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":1,"name":"a"}}}}}`, want: []string{`spec.defaultBackend: Invalid value: "": cannot set both port name & port number`}},
		{obj: `{"spec":{"defaultBackend":{"service":{"name":"s","port":{"name":"A"}}}}}`, want: []string{`spec.defaultBackend.service.port.name: Invalid value: "A": must contain only…`, `spec.defaultBackend.service.port.name: Invalid value: "A": must contain at least…`}},
		{obj: `{"spec":{"defaultBackend":{"resource":{"apiGroup":"A","kind":"a/b"}}}}`, want: []string{`spec.defaultBackend.resource.name: Required value`,
			`spec.defaultBackend.resource.apiGroup: Invalid value: "A": a lowercase…`, `spec.defaultBackend.resource.kind: Invalid value: "a/b": may not contain '/'`}},
		{obj: `{"metadata":{"annotations":{"kubernetes.io/ingress.class":"a"}},` + base[1:] + `,"ingressClassName":"b"}}`, want: []string{
			"annotations.kubernetes.io/ingress.class: Invalid value: \"a\": must match `ingressClassName` when both are specified"}},
		{name: "another class later", old: base + `}}`, obj: `{"metadata":{"annotations":{"kubernetes.io/ingress.class":"a"}},` + base[1:] + `,"ingressClassName":"b"}}`},
	})
	obj := named(k, parseTree(t, base+`},"status":{"loadBalancer":{"ingress":[{"ip":"x"}]}}}`))
	expect(t, "status of a create", create(k, obj), nil)
	obj["status"] = parseTree(t, `{"loadBalancer":{"ingress":[{"ip":"x"},{"hostname":"1.2.3.4","ports":[{"port":1}]}]}}`)
	expect(t, "status", lines(rules.Validate(k, obj)), []string{`status.loadBalancer.ingress[1].ports[0].protocol: Required value`, `status.loadBalancer.ingress[0].ip: Invalid value: "x": ` + noIP,
		`status.loadBalancer.ingress[1].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address`})
}

func TestIngressClass(t *testing.T) {
	k := kindInGroup(t, meta.Platform, "networking.platform.io", "IngressClass")
	with := func(parameters string) string {
		return `{"spec":{"controller":"e.com/c","parameters":{` + parameters + `}}}`
	}
	runValidationCases(t, k, []validationCase{
		{obj: `{"spec":{"controller":"e.com/c"}}`},
		{name: "250 characters", obj: `{"spec":{"controller":"e.com/` + strings.Repeat("c", 244) + `"}}`},
		{name: "251 characters", obj: `{"spec":{"controller":"e.com/` + strings.Repeat("c", 245) + `"}}`, want: []string{`spec.controller: Too long: may not be more than 250 bytes`}},
		{obj: `{}`, want: []string{`spec.controller: Required value`}},
		{obj: `{"spec":{"controller":"c"}}`, want: []string{`spec.controller: Invalid value: "c": must be a domain-prefixed path (such as "acme.io/foo")`}},
		{obj: `{"spec":{"controller":"E/c d"}}`, want: []string{`spec.controller: Invalid value: "E": a lowercase RFC 1123 subdomain…`, `spec.controller: Invalid value: "c d": Invalid path (regex used…`}},
		{name: "another controller", old: `{"spec":{"controller":"e.com/c"}}`, obj: `{"spec":{"controller":"e.com/d"}}`, want: []string{`spec.controller: Invalid value: "e.com/d": field is immutable`}},
		{obj: with(`"apiGroup":"e.com","kind":"k","name":"n"`)},
		{obj: with(`"kind":"k","name":"n","scope":"Namespace","namespace":"a"`)},
		{obj: with(`"apiGroup":"E","name":"a/b"`), want: []string{`spec.parameters.apiGroup: Invalid value: "E": a lowercase…`, `spec.parameters.kind: Required value`, `spec.parameters.name: Invalid value: "a/b": may not contain '/'`}},
		{obj: with(`"kind":"a/b"`), want: []string{`spec.parameters.name: Required value`, `spec.parameters.kind: Invalid value: "a/b": may not contain '/'`}},
		{obj: with(`"kind":"k","name":"n","scope":"X"`), want: []string{`spec.parameters.scope: Unsupported value: "X": supported values: "Cluster", "Namespace"`}},
		{obj: with(`"kind":"k","name":"n","scope":"Namespace"`), want: []string{"spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"}},
		{obj: with(`"kind":"k","name":"n","scope":"Namespace","namespace":"A"`), want: []string{`spec.parameters.namespace: Invalid value: "A": a lowercase RFC 1123 label…`}},
		{obj: with(`"kind":"k","name":"n","namespace":"a"`), want: []string{"spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"}},
	})
	obj := parseTree(t, with(`"kind":"k","name":"n"`))
	rules.Default(k, obj)
	equalJSON(t, "scope", obj.Object("spec", "parameters")["scope"], `"Cluster"`)
}
