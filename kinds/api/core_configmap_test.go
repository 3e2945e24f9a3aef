package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestConfigMap(t *testing.T) {
	k := CoreKind(t, meta.Platform, "ConfigMap")
	big := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		obj  string
		want []string
	}{
		{`{}`, nil},
		{`{"data":{"a.b-c_D9":"v",".x":"v"},"binaryData":{"b":"AAE="}}`, nil},
		{`{"data":{"..":"v"}}`, []string{`data[..]: Invalid value: "..": must not be '..'`}},
		{`{"data":{".":"v"}}`, []string{`data[.]: Invalid value: ".": must not be '.'`}},
		{`{"data":{"..a":"v"}}`, []string{`data[..a]: Invalid value: "..a": must not start with '..'`}},
		{`{"data":{"a b":"v"}}`, []string{`data[a b]: Invalid value: "a b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`}},
		{`{"data":{"a":"v"},"binaryData":{"a":"AAE="}}`, []string{`data[a]: Invalid value: "a": duplicate of key present in binaryData`,
			`binaryData[a]: Invalid value: "a": duplicate of key present in data`}},
		{`{"data":{"k":"` + big + `"}}`, nil},
		{`{"data":{"k":"` + big + `y"}}`, []string{`[]: Too long: may not be more than 1048576 bytes`}},
		{`{"data":{"k":"` + big + `"},"binaryData":{"a":"AA=="}}`, []string{`[]: Too long: may not be more than 1048576 bytes`}},
	} {
		name := c.obj
		if len(name) > 80 {
			name = name[:80]
		}
		Expect(t, name, Create(k, Named(k, Parse(t, c.obj))), c.want)
	}
}

func TestConfigMapUpdate(t *testing.T) {
	k := CoreKind(t, meta.Platform, "ConfigMap")
	for _, c := range []struct {
		old, now string
		want     []string
	}{
		{`{"data":{"x":"1"}}`, `{"data":{"x":"2"},"immutable":true}`, nil},
		{`{"immutable":true,"data":{"x":"1"}}`, `{"immutable":true,"data":{"x":"1"},"metadata":{"labels":{"l":"1"}}}`, nil},
		{`{"immutable":true,"data":{"x":"1"}}`, `{"immutable":true,"data":{"x":"2"}}`, []string{"data: Forbidden: field is immutable when `immutable` is set"}},
		{`{"immutable":true,"data":{"x":"1"}}`, `{"immutable":true,"data":{"x":"1","y":""}}`, []string{"data: Forbidden: field is immutable when `immutable` is set"}},
		{`{"immutable":true,"data":{"x":"1"}}`, `{"data":{"x":"1"}}`, []string{"immutable: Forbidden: field is immutable when `immutable` is set"}},
		{`{"immutable":true}`, `{"binaryData":{"x":"AA=="}}`, []string{"immutable: Forbidden: field is immutable when `immutable` is set",
			"binaryData: Forbidden: field is immutable when `immutable` is set"}},
	} {
		Expect(t, c.old+" → "+c.now, Update(k, Named(k, Parse(t, c.now)), Named(k, Parse(t, c.old))), c.want)
	}
}

func TestSecret(t *testing.T) {
	k := CoreKind(t, meta.Kubernetes, "Secret")
	for _, c := range []struct {
		obj  string
		want []string
	}{
		{`{}`, nil},
		{`{"data":{"a b":""}}`, []string{`data[a b]: Invalid value: "a b": a valid config key…`}},
		{`{"type":"kubernetes.io/basic-auth"}`, []string{`data[username]: Required value`, `data[password]: Required value`}},
		{`{"type":"kubernetes.io/basic-auth","stringData":{"password":"x"}}`, nil},
		{`{"type":"platform.io/basic-auth"}`, nil},
		{`{"type":"kubernetes.io/ssh-auth"}`, []string{`data[ssh-privatekey]: Required value`}},
		{`{"type":"kubernetes.io/tls","data":{"tls.crt":""}}`, []string{`data[tls.key]: Required value`}},
		{`{"type":"kubernetes.io/dockercfg"}`, []string{`data[.dockercfg]: Required value`}},
		{`{"type":"kubernetes.io/dockerconfigjson","stringData":{".dockerconfigjson":"{s3cret"}}`,
			[]string{`data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": must be valid JSON`}},
		{`{"type":"kubernetes.io/dockerconfigjson","stringData":{".dockerconfigjson":"{\"auths\":{}}"}}`, nil},
		{`{"type":"kubernetes.io/service-account-token"}`, []string{`metadata.annotations[kubernetes.io/service-account.name]: Required value`}},
		{`{"type":"kubernetes.io/service-account-token","metadata":{"annotations":{"kubernetes.io/service-account.name":"a"}}}`, nil},
		{`{"stringData":{"a":"` + strings.Repeat("x", 1<<20+1) + `"}}`, []string{`data: Too long: may not be more than 1048576 bytes`}},
	} {
		name := c.obj
		if len(name) > 80 {
			name = name[:80]
		}
		Expect(t, name, Create(k, Named(k, Parse(t, c.obj))), c.want)
	}
}

func TestSecretStringData(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Secret")
	obj := Named(k, Parse(t, `{"data":{"a":"MQ==","b":"Mg=="},"stringData":{"b":"three","c":""}}`))
	Expect(t, "stringData", Create(k, obj), nil)
	EqualJSON(t, "data", obj["data"], `{"a":"MQ==","b":"dGhyZWU=","c":""}`)
	EqualJSON(t, "type", obj["type"], `"Opaque"`)
	if obj.Has("stringData") {
		t.Error("stringData can be read")
	}
}

func TestSecretUpdate(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Secret")
	old := Named(k, Parse(t, `{"type":"a","immutable":true,"data":{"x":"MQ=="}}`))
	Expect(t, "type and data", Update(k, Named(k, Parse(t, `{"immutable":true,"stringData":{"x":"2"}}`)), old), []string{
		`type: Invalid value: "Opaque": field is immutable`, "data: Forbidden: field is immutable when `immutable` is set"})
	Expect(t, "the same text", Update(k, Named(k, Parse(t, `{"type":"a","immutable":true,"stringData":{"x":"1"}}`)), old), nil)
}

func TestNamespace(t *testing.T) {
	k := CoreKind(t, meta.Kubernetes, "Namespace")
	obj := Named(k, Parse(t, `{"status":{"phase":"Terminating"},"metadata":{"labels":{"kubernetes.io/metadata.name":"other"}}}`))
	Expect(t, "create", Create(k, obj), nil)
	EqualJSON(t, "created", obj, `{"metadata":{"name":"x","labels":{"kubernetes.io/metadata.name":"x"}},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}}`)
	now := Named(k, Parse(t, `{"spec":{"finalizers":[]},"status":{"phase":"Gone"}}`))
	Expect(t, "update", Update(k, now, obj), nil)
	EqualJSON(t, "updated", now, `{"metadata":{"name":"x","labels":{"kubernetes.io/metadata.name":"x"}},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}}`)
	Expect(t, "finalizer", Create(k, Named(k, Parse(t, `{"spec":{"finalizers":["mine"]}}`))), []string{
		`spec.finalizers: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified`})
	Expect(t, "name", Create(k, Named(k, Parse(t, `{"metadata":{"name":"a.b"}}`))), []string{`metadata.name: Invalid value: "a.b": a lowercase RFC 1123 label…`})
	Expect(t, "namespace", Create(k, Named(k, Parse(t, `{"metadata":{"namespace":"a"}}`))), []string{`metadata.namespace: Forbidden: not allowed on this type`})
}

func TestEvent(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Event")
	for _, c := range []struct {
		obj  string
		want []string
	}{
		{`{"involvedObject":{"namespace":"ns","kind":"Pod","name":"p"}}`, nil},
		{`{"involvedObject":{"namespace":"other"}}`, []string{`involvedObject.namespace: Invalid value: "other": does not match event.namespace`}},
		{`{"involvedObject":{"kind":"Node"}}`, []string{`involvedObject.namespace: Invalid value: "": does not match event.namespace`}},
		{`{"metadata":{"namespace":"default"},"involvedObject":{"kind":"Node"}}`, nil},
		{`{"eventTime":"2026-01-01T00:00:00.000000Z","involvedObject":{"namespace":"ns"}}`, []string{`reportingComponent: Required value`,
			`reportingInstance: Required value`, `action: Required value`, `reason: Required value`}},
		{`{"eventTime":"2026-01-01T00:00:00.000000Z","involvedObject":{"namespace":"ns"},"reportingComponent":"a b","reportingInstance":"i","action":"a","reason":"` + strings.Repeat("r", 129) + `"}`,
			[]string{`reportingComponent: Invalid value: "a b": name part…`, `reason: Invalid value: "": can have at most 128 characters`}},
	} {
		Expect(t, c.obj, Create(k, Named(k, Parse(t, c.obj))), c.want)
	}
}
