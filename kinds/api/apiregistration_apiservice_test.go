package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestAPIService(t *testing.T) {
	k := KindInGroup(t, meta.Platform, "apiregistration.platform.io", "APIService")
	const name, priorities = `"metadata":{"name":"v1.a.example"},`, `"groupPriorityMinimum":100,"versionPriority":10`
	const own = `"group":"a.example","version":"v1",` + priorities
	RunValidationCases(t, k, []ValidationCase{
		{Obj: `{` + name + `"spec":{` + own + `}}`},
		{Obj: `{` + name + `"spec":{` + own + `,"service":{"name":"s","namespace":"n"},"caBundle":"` + CertificateText(t) + `"}}`},
		{Obj: `{` + name + `"spec":{` + own + `,"service":{"name":"s","namespace":"n"},"caBundle":"AA=="}}`, Want: []string{`spec.caBundle: Invalid value: "AA==": unable to load root certificates: unable to parse bytes as PEM block`}},
		{Obj: `{"metadata":{"name":"v1."},"spec":{"version":"v1",` + priorities + `}}`},
		{Obj: `{"metadata":{"name":"v2."},"spec":{"version":"v2",` + priorities + `}}`, Want: []string{`spec.group: Required value: only v1 may have an empty group and it better be legacy kube`}},
		{Obj: `{"spec":{` + own + `}}`, Want: []string{"metadata.name: Invalid value: \"x\": must be `spec.version+\".\"+spec.group`: \"v1.a.example\""}},
		{Obj: `{"metadata":{"name":"1.A"},"spec":{"group":"A","version":"1",` + priorities + `}}`, Want: []string{
			`spec.group: Invalid value: "A": a lowercase RFC 1123 subdomain…`, `spec.version: Invalid value: "1": a DNS-1035 label…`}},
		{Obj: `{` + name + `"spec":{"group":"a.example","version":"v1","groupPriorityMinimum":20001}}`, Want: []string{
			`spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000`, `spec.versionPriority: Invalid value: 0: must be positive and less than 1000`}},
		{Obj: `{` + name + `"spec":{` + own + `,"caBundle":"AAE=","insecureSkipTLSVerify":true}}`, Want: []string{
			`spec.caBundle: Invalid value: "2 bytes": local APIServices may not have a caBundle`, `spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify`}},
		{Obj: `{` + name + `"spec":{` + own + `,"service":{"port":70000},"caBundle":"AA==","insecureSkipTLSVerify":true}}`, Want: []string{
			`spec.service.namespace: Required value`, `spec.service.name: Required value`,
			`spec.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive`,
			`spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present`,
			`spec.caBundle: Invalid value: "AA==": unable to load root certificates: unable to parse bytes as PEM block`}},
	})
	obj := Named(k, Parse(t, `{"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"},"status":{"conditions":[{"type":"Mine"}]}}`))
	Create(k, obj)
	EqualJSON(t, "local status", obj["status"], `{"conditions":[{"type":"Available","status":"True","reason":"Local","message":"Local APIServices are always available","lastTransitionTime":"2026-01-01T00:00:00Z"}]}`)
	obj = Named(k, Parse(t, `{"spec":{"service":{"name":"s","namespace":"n"}},"status":{"conditions":[{"type":"Mine"}]}}`))
	Create(k, obj)
	EqualJSON(t, "remote", obj.Object("spec", "service"), `{"name":"s","namespace":"n","port":443}`)
	EqualJSON(t, "remote status", obj["status"], `{}`)
}
