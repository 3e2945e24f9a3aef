package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

func TestIngress(t *testing.T) {
	const (
		to   = `"backend":{"service":{"name":"s","port":{"number":80}}}`
		at   = "spec.rules[0].http.paths[0]."
		base = `{"spec":{"defaultBackend":{"service":{"name":"s","port":{"name":"http"}}}`
	)
	k := KindInGroup(t, meta.Kubernetes, "networking.platform.io", "Ingress")
	RunValidationCases(t, k, []ValidationCase{
		{Obj: ingressWithPath(`"path":"/a","pathType":"Prefix",` + to)},
		{Obj: ingressWithPath(`"pathType":"ImplementationSpecific",` + to)},
		{Obj: base + `,"tls":[{"hosts":["a.b","*.b"],"secretName":"s"}],"ingressClassName":"c"}}`},
		{Obj: `{}`, Want: []string{"spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"}},
		{Obj: ingressWithPath(to), Want: []string{at + `pathType: Required value: pathType must be specified`}},
		{Obj: ingressWithPath(`"pathType":"X",` + to), Want: []string{at + `pathType: Unsupported value: "X": supported values: "Exact", "ImplementationSpecific", "Prefix"`}},
		{Obj: ingressWithPath(`"pathType":"Exact",` + to), Want: []string{at + `path: Invalid value: "": must be an absolute path`}},
		{Obj: ingressWithPath(`"path":"x","pathType":"ImplementationSpecific",` + to), Want: []string{at + `path: Invalid value: "x": must be an absolute path`}},
		{Obj: ingressWithPath(`"path":"/a//b/./c/..","pathType":"Prefix",` + to), Want: []string{at + `path: Invalid value: "/a//b/./c/..": must not contain '//'`,
			at + `path: Invalid value: "/a//b/./c/..": must not contain '/./'`, at + `path: Invalid value: "/a//b/./c/..": cannot end with '/..'`}},
		{Obj: ingressWithPath(`"path":"/%2f","pathType":"Prefix",` + to), Want: []string{at + `path: Invalid value: "/%2f": must not contain '%2f'`}},
		{Obj: `{"spec":{"rules":[{"http":{"paths":[]}}]}}`, Want: []string{`spec.rules[0].http.paths: Required value`}},
		{Obj: `{"spec":{"rules":[{"host":"1.2.3.4"},{"host":"a.*.b"},{"host":"*.b"},{"host":"A"}]}}`, Want: []string{`spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address`,
			`spec.rules[1].host: Invalid value: "a.*.b": a wildcard DNS-1123 subdomain must start with '*.'…`, `spec.rules[3].host: Invalid value: "A": a lowercase RFC 1123 subdomain…`}},
		{Obj: base + `,"tls":[{"hosts":["A","*b"],"secretName":"S"}]}}`, Want: []string{`spec.tls[0].hosts[0]: Invalid value: "A": a lowercase…`, `spec.tls[0].hosts[1]: Invalid value: "*b": a wildcard…`, `spec.tls[0].secretName: Invalid value: "S": a lowercase…`}},
		{Obj: base + `,"ingressClassName":"C"}}`, Want: []string{`spec.ingressClassName: Invalid value: "C": a lowercase…`}},
		{Obj: `{"spec":{"defaultBackend":{}}}`, Want: []string{`spec.defaultBackend: Invalid value: "": resource or service backend is required`}},
		{Obj: `{"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":1}},"resource":{"kind":"k","name":"n"}}}}`, Want: []string{`spec.defaultBackend: Invalid value: "": cannot set both resource and service backends`}},
		{Obj: `{"spec":{"defaultBackend":{"service":{"port":{}}}}}`, Want: []string{`spec.defaultBackend.service.name: Required value`, `spec.defaultBackend: Required value: port name or number is required`}},
		{Obj: `{"spec":{"defaultBackend":{"service":{"name":"1","port":{"number":70000}}}}}`, Want: []string{`spec.defaultBackend.service.name: Invalid value: "1": a DNS-1035 label…`, `spec.defaultBackend.service.port.number: Invalid value: 70000: ` + OutOfPorts}},
		{Obj: `{"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":1,"name":"a"}}}}}`, Want: []string{`spec.defaultBackend: Invalid value: "": cannot set both port name & port number`}},
		{Obj: `{"spec":{"defaultBackend":{"service":{"name":"s","port":{"name":"A"}}}}}`, Want: []string{`spec.defaultBackend.service.port.name: Invalid value: "A": must contain only…`, `spec.defaultBackend.service.port.name: Invalid value: "A": must contain at least…`}},
		{Obj: `{"spec":{"defaultBackend":{"resource":{"apiGroup":"A","kind":"a/b"}}}}`, Want: []string{`spec.defaultBackend.resource.name: Required value`,
			`spec.defaultBackend.resource.apiGroup: Invalid value: "A": a lowercase…`, `spec.defaultBackend.resource.kind: Invalid value: "a/b": may not contain '/'`}},
		{Obj: `{"metadata":{"annotations":{"kubernetes.io/ingress.class":"a"}},` + base[1:] + `,"ingressClassName":"b"}}`, Want: []string{
			"annotations.kubernetes.io/ingress.class: Invalid value: \"a\": must match `ingressClassName` when both are specified"}},
		{Name: "another class later", Old: base + `}}`, Obj: `{"metadata":{"annotations":{"kubernetes.io/ingress.class":"a"}},` + base[1:] + `,"ingressClassName":"b"}}`},
	})
	obj := Named(k, Parse(t, base+`},"status":{"loadBalancer":{"ingress":[{"ip":"x"}]}}}`))
	Expect(t, "status of a create", Create(k, obj), nil)
	obj["status"] = Parse(t, `{"loadBalancer":{"ingress":[{"ip":"x"},{"hostname":"1.2.3.4","ports":[{"port":1}]}]}}`)
	Expect(t, "status", Lines(rules.Validate(k, obj)), []string{`status.loadBalancer.ingress[1].ports[0].protocol: Required value`, `status.loadBalancer.ingress[0].ip: Invalid value: "x": ` + NoIP,
		`status.loadBalancer.ingress[1].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address`})
}

func TestIngressClass(t *testing.T) {
	k := KindInGroup(t, meta.Platform, "networking.platform.io", "IngressClass")
	with := func(parameters string) string {
		return `{"spec":{"controller":"e.com/c","parameters":{` + parameters + `}}}`
	}
	RunValidationCases(t, k, []ValidationCase{
		{Obj: `{"spec":{"controller":"e.com/c"}}`},
		{Name: "250 characters", Obj: `{"spec":{"controller":"e.com/` + strings.Repeat("c", 244) + `"}}`},
		{Name: "251 characters", Obj: `{"spec":{"controller":"e.com/` + strings.Repeat("c", 245) + `"}}`, Want: []string{`spec.controller: Too long: may not be more than 250 bytes`}},
		{Obj: `{}`, Want: []string{`spec.controller: Required value`}},
		{Obj: `{"spec":{"controller":"c"}}`, Want: []string{`spec.controller: Invalid value: "c": must be a domain-prefixed path (such as "acme.io/foo")`}},
		{Obj: `{"spec":{"controller":"E/c d"}}`, Want: []string{`spec.controller: Invalid value: "E": a lowercase RFC 1123 subdomain…`, `spec.controller: Invalid value: "c d": Invalid path (regex used…`}},
		{Name: "another controller", Old: `{"spec":{"controller":"e.com/c"}}`, Obj: `{"spec":{"controller":"e.com/d"}}`, Want: []string{`spec.controller: Invalid value: "e.com/d": field is immutable`}},
		{Obj: with(`"apiGroup":"e.com","kind":"k","name":"n"`)},
		{Obj: with(`"kind":"k","name":"n","scope":"Namespace","namespace":"a"`)},
		{Obj: with(`"apiGroup":"E","name":"a/b"`), Want: []string{`spec.parameters.apiGroup: Invalid value: "E": a lowercase…`, `spec.parameters.kind: Required value`, `spec.parameters.name: Invalid value: "a/b": may not contain '/'`}},
		{Obj: with(`"kind":"a/b"`), Want: []string{`spec.parameters.name: Required value`, `spec.parameters.kind: Invalid value: "a/b": may not contain '/'`}},
		{Obj: with(`"kind":"k","name":"n","scope":"X"`), Want: []string{`spec.parameters.scope: Unsupported value: "X": supported values: "Cluster", "Namespace"`}},
		{Obj: with(`"kind":"k","name":"n","scope":"Namespace"`), Want: []string{"spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"}},
		{Obj: with(`"kind":"k","name":"n","scope":"Namespace","namespace":"A"`), Want: []string{`spec.parameters.namespace: Invalid value: "A": a lowercase RFC 1123 label…`}},
		{Obj: with(`"kind":"k","name":"n","namespace":"a"`), Want: []string{"spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"}},
	})
	obj := Parse(t, with(`"kind":"k","name":"n"`))
	rules.Default(k, obj)
	EqualJSON(t, "scope", obj.Object("spec", "parameters")["scope"], `"Cluster"`)
}

func ingressWithPath(path string) string {
	return `{"spec":{"rules":[{"http":{"paths":[{` + path + `}]}}]}}`
}
