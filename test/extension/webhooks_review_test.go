package extension

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// only is the one question that was asked.
func only(t *testing.T, h *hookServer) question {
	t.Helper()
	asked := h.questions()
	if len(asked) != 1 {
		t.Fatalf("%d questions", len(asked))
	}
	return asked[0]
}

func asJSON(v any) string { b, _ := json.Marshal(v); return string(b) }

// want checks members of a request, as JSON; "" for one that is not there.
func (q question) want(t *testing.T, what string, members map[string]string) {
	t.Helper()
	for path, want := range members {
		got := asJSON(at(q.request(), strings.Split(path, ".")...))
		if want == "" {
			want = "null"
		}
		if got != want {
			t.Errorf("%s: %s is %s, want %s", what, path, got, want)
		}
	}
}

// TestReview: every field of the request of an AdmissionReview, for each operation, in both profiles.
func TestReview(t *testing.T) {
	t.Parallel()
	for _, naming := range []string{"platform", "kubernetes"} {
		t.Run(naming, func(t *testing.T) {
			t.Parallel()
			s := openWebhooks(t, func(c *daemon.Config) { c.Naming = naming })
			s.naming = naming
			h := startWebhooks(t, allow)
			s.register(validating, "v", webhookHook{rules: rule("*", "", "v1", "configmaps,namespaces,pods/eviction,serviceaccounts/token"), versions: `"v9","v1","v1beta1"`}.text(h))
			options := func(kind, more string) string {
				return `{"apiVersion":"` + s.group("meta") + `/v1","kind":"` + kind + `"` + more + `}`
			}
			// The fields of a map are sorted in want.
			created := func(kind string) string { return options(kind, "") }

			s.Send(201, "POST", configMaps+"?fieldManager=m&fieldValidation=Strict", client.JSON, configMap("a", `"k":"v"`))
			q := only(t, h)
			if got := asJSON([]any{q.review["apiVersion"], q.review["kind"]}); got != `["`+s.group("admission")+`/v1","AdmissionReview"]` {
				t.Errorf("the review is of %s", got)
			}
			if q.header.Get("Content-Type") != "application/json" || q.query != "timeout=30s" || q.proto != "HTTP/2.0" {
				t.Errorf("content type %q, query %q, %s", q.header.Get("Content-Type"), q.query, q.proto)
			}
			if len(q.text("uid")) != 36 {
				t.Errorf("uid %q", q.text("uid"))
			}
			q.want(t, "a create", map[string]string{
				"operation": `"CREATE"`, "name": `"a"`, "namespace": `"default"`, "dryRun": "false",
				"kind":     `{"group":"","kind":"ConfigMap","version":"v1"}`,
				"resource": `{"group":"","resource":"configmaps","version":"v1"}`, "requestKind": `{"group":"","kind":"ConfigMap","version":"v1"}`,
				"requestResource": `{"group":"","resource":"configmaps","version":"v1"}`, "subResource": "", "requestSubResource": "",
				"userInfo.groups": `["system:masters","system:authenticated"]`, "oldObject": "", "object.kind": `"ConfigMap"`, "object.apiVersion": `"v1"`,
				"object.data": `{"k":"v"}`, "object.metadata.name": `"a"`,
				"options": strings.Replace(options("CreateOptions", `,"fieldManager":"m","fieldValidation":"Strict"`), `,"kind":"CreateOptions","fieldManager":"m","fieldValidation":"Strict"`, `,"fieldManager":"m","fieldValidation":"Strict","kind":"CreateOptions"`, 1),
			})
			if q.text("userInfo", "username") == "" || q.text("object", "metadata", "uid") == "" {
				t.Errorf("%v", q.request())
			}
			version := s.Send(200, "GET", configMaps+"/a", "", "").Object().Metadata()["resourceVersion"].(string)
			s.Send(200, "PUT", configMaps+"/a", client.JSON, configMap("a", `"k":"w"`))
			only(t, h).want(t, "an update", map[string]string{
				"operation": `"UPDATE"`, "object.data": `{"k":"w"}`, "oldObject.data": `{"k":"v"}`, "oldObject.kind": `"ConfigMap"`,
				"oldObject.metadata.resourceVersion": `"` + version + `"`, "options": created("UpdateOptions"),
			})
			s.Send(200, "PATCH", configMaps+"/a?dryRun=All", client.MergePatch, `{"data":{"k":"x"}}`)
			only(t, h).want(t, "a dry patch", map[string]string{
				"operation": `"UPDATE"`, "object.data": `{"k":"x"}`, "oldObject.data": `{"k":"w"}`, "dryRun": "true",
				"options": `{"apiVersion":"` + s.group("meta") + `/v1","dryRun":["All"],"kind":"UpdateOptions"}`,
			})
			s.Send(200, "DELETE", configMaps+"/a", client.JSON, `{"gracePeriodSeconds":0,"propagationPolicy":"Background"}`)
			only(t, h).want(t, "a delete", map[string]string{
				"operation": `"DELETE"`, "object": "", "oldObject.data": `{"k":"w"}`, "name": `"a"`,
				"options": `{"apiVersion":"` + s.group("meta") + `/v1","gracePeriodSeconds":0,"kind":"DeleteOptions","propagationPolicy":"Background"}`,
			})
			s.Send(201, "POST", "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"n"}}`)
			only(t, h).want(t, "a namespace", map[string]string{"name": `"n"`, "namespace": `"n"`, "object.metadata.name": `"n"`})
			s.Send(201, "POST", "/api/v1/namespaces/default/serviceaccounts/default/token", client.JSON, `{"spec":{"expirationSeconds":900}}`)
			only(t, h).want(t, "a token", map[string]string{
				"operation": `"CREATE"`, "subResource": `"token"`, "name": `"default"`, "oldObject": "", "object.spec.expirationSeconds": "900",
				"kind":     `{"group":"` + s.group("authentication") + `","kind":"TokenRequest","version":"v1"}`,
				"resource": `{"group":"","resource":"serviceaccounts","version":"v1"}`, "object.kind": `"TokenRequest"`,
			})
		})
	}
}

// TestReviewVersion: the first version that is known is used.
func TestReviewVersion(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	h := startWebhooks(t, allow)
	s.register(validating, "v", webhookHook{rules: onlyConfigMaps, versions: `"v2","v1beta1","v1"`}.text(h))
	s.create(201, "a", "")
	if got := only(t, h).review["apiVersion"]; got != "admission.platform.io/v1beta1" {
		t.Errorf("asked in %v", got)
	}
	a := s.Send(422, "POST", s.configurations(mutating), client.JSON, s.configuration(mutating, "m", webhookHook{versions: `"v2"`}.text(h)))
	s.wantMessage(a, "must include at least one of v1, v1beta1")
}

// TestGeneratedName: the name of an object with generateName is known to validating webhooks only.
func TestGeneratedName(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	m, v := startWebhooks(t, patches(`[{"op":"add","path":"/data","value":{"x":"y"}}]`)), startWebhooks(t, allow)
	s.register(mutating, "m", webhookHook{rules: onlyConfigMaps}.text(m))
	s.register(validating, "v", webhookHook{rules: onlyConfigMaps}.text(v))
	o := s.Send(201, "POST", configMaps, client.JSON, `{"metadata":{"generateName":"g-"}}`).Object()
	before, after := only(t, m), only(t, v)
	before.want(t, "mutating", map[string]string{"name": "", "object.metadata.name": "", "object.metadata.generateName": `"g-"`, "object.metadata.uid": "", "object.metadata.creationTimestamp": ""})
	after.want(t, "validating", map[string]string{"name": `"` + o.Name() + `"`, "object.metadata.name": `"` + o.Name() + `"`, "object.metadata.uid": `"` + o.UID() + `"`, "object.data": `{"x":"y"}`})
}

// TestWebhookSubresources: what webhooks are told of the bodies of sub-resources, and what becomes of what they change in them.
func TestWebhookSubresources(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	v, m := startWebhooks(t, allow), startWebhooks(t, allow)
	s.register(validating, "v", webhookHook{rules: rule("*", "*", "*", "pods/*,deployments/*")}.text(v))
	s.register(mutating, "m", webhookHook{rules: rule("*", "*", "*", "pods/binding,deployments/scale,pods/eviction")}.text(m))
	const deployments, pods = "/apis/apps/v1/namespaces/default/deployments", "/api/v1/namespaces/default/pods"
	const template = `{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	s.Send(201, "POST", deployments, client.JSON, `{"metadata":{"name":"d"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":`+template+`}}`)
	v.questions()
	m.set(patches(`[{"op":"replace","path":"/spec/replicas","value":7}]`))
	s.wantText(s.Send(200, "PATCH", deployments+"/d/scale", client.MergePatch, `{"spec":{"replicas":3}}`), `"replicas":7`)
	scale := map[string]string{
		"operation": `"UPDATE"`, "subResource": `"scale"`, "kind": `{"group":"autoscaling","kind":"Scale","version":"v1"}`,
		"resource": `{"group":"apps","resource":"deployments","version":"v1"}`, "oldObject.spec.replicas": "1", "object.kind": `"Scale"`, "object.spec.template": "",
	}
	scale["object.spec.replicas"] = "3"
	only(t, m).want(t, "a scale", scale)
	scale["object.spec.replicas"] = "7"
	only(t, v).want(t, "a scale", scale)
	s.wantText(s.Send(200, "GET", deployments+"/d", "", ""), `"replicas":7`)

	s.Send(201, "POST", pods, client.JSON, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	v.questions()
	m.set(patches(`[{"op":"replace","path":"/target/name","value":"other"}]`))
	s.Send(201, "POST", pods+"/p/binding", client.JSON, `{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`)
	only(t, m).want(t, "a binding", map[string]string{"operation": `"CREATE"`, "subResource": `"binding"`, "kind": `{"group":"","kind":"Binding","version":"v1"}`, "object.target.name": `"n"`, "object.metadata.namespace": `"default"`, "oldObject": ""})
	only(t, v).want(t, "a binding", map[string]string{"operation": `"CREATE"`, "object.target.name": `"other"`, "oldObject": ""})
	s.wantText(s.Send(200, "GET", pods+"/p", "", ""), `"nodeName":"other"`)

	s.Send(200, "PATCH", pods+"/p/status", client.MergePatch, `{"status":{"phase":"Running"}}`)
	only(t, v).want(t, "a status", map[string]string{"operation": `"UPDATE"`, "subResource": `"status"`, "object.status.phase": `"Running"`, "object.kind": `"Pod"`})

	m.set(allow)
	s.Send(201, "POST", pods+"/p/eviction", client.JSON, `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}}`)
	asked := v.questions() // and of the delete that it does
	asked[0].want(t, "an eviction", map[string]string{"operation": `"CREATE"`, "subResource": `"eviction"`, "kind": `{"group":"policy","kind":"Eviction","version":"v1"}`, "object.kind": `"Eviction"`, "name": `"p"`, "oldObject": ""})
}

// A request for a token is completed before webhooks validate it, not before they change it.
func TestTokenRequestIsCompleted(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	v, m := startWebhooks(t, allow), startWebhooks(t, allow)
	s.register(validating, "v", webhookHook{rules: rule("CREATE", "*", "*", "serviceaccounts/token")}.text(v))
	s.register(mutating, "m", webhookHook{rules: rule("CREATE", "*", "*", "serviceaccounts/token")}.text(m))
	account := s.Send(201, "POST", "/api/v1/namespaces/default/serviceaccounts", client.JSON, `{"metadata":{"name":"robot"}}`).Object()
	s.Send(201, "POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", client.JSON, `{"spec":{}}`)
	only(t, m).want(t, "mutating", map[string]string{"name": `"robot"`, "object.metadata.name": "", "object.metadata.uid": "", "object.spec.audiences": "", "object.status.token": `""`})
	only(t, v).want(t, "validating", map[string]string{
		"name": `"robot"`, "object.metadata.name": `"robot"`, "object.metadata.namespace": `"default"`, "object.metadata.uid": `"` + account.UID() + `"`,
		"object.spec.audiences": `["https://platform.default.svc"]`, "object.spec.expirationSeconds": "3600", "object.status.token": `""`,
	})
	s.Send(409, "POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", client.JSON, `{"metadata":{"uid":"another"},"spec":{}}`)
	only(t, m)
	if asked := v.questions(); len(asked) != 0 {
		t.Errorf("validated although it is no valid request: %d questions", len(asked))
	}
}

// A connection is asked about with its options, which a webhook may change, whether what it leads to is there or not.
func TestConnect(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	v, m := startWebhooks(t, respond(`"allowed":false`)), startWebhooks(t, allow)
	s.register(validating, "v", webhookHook{rules: rule("CONNECT", "*", "*", "*/*")}.text(v))
	s.register(mutating, "m", webhookHook{rules: rule("CONNECT", "*", "*", "*/*")}.text(m))
	const pods = "/api/v1/namespaces/default/pods"
	s.Send(201, "POST", pods, client.JSON, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	for _, c := range []struct{ method, path, resource, sub, kind, field, value, patched string }{
		{"POST", pods + "/p/exec?command=a&stdout=true", "pods", "exec", "PodExecOptions", "command", `["a"]`, `["b"]`},
		{"GET", pods + "/p/exec?command=a&stdout=true", "pods", "exec", "PodExecOptions", "command", `["a"]`, `["b"]`},
		{"POST", pods + "/none/attach?container=x&stdout=true", "pods", "attach", "PodAttachOptions", "container", `"x"`, `"y"`},
		{"POST", pods + "/p/portforward?ports=80", "pods", "portforward", "PodPortForwardOptions", "ports", `[80]`, `[81]`},
		{"PUT", pods + "/p/proxy/x/y", "pods", "proxy", "PodProxyOptions", "path", `"/x/y"`, `"/z"`},
		{"DELETE", "/api/v1/namespaces/default/services/none/proxy/x", "services", "proxy", "ServiceProxyOptions", "path", `"/x"`, `"/z"`},
		{"GET", "/api/v1/nodes/none/proxy/", "nodes", "proxy", "NodeProxyOptions", "path", `"/"`, `"/z"`},
	} {
		want := map[string]string{
			"operation": `"CONNECT"`, "subResource": fmt.Sprintf("%q", c.sub), "resource": fmt.Sprintf(`{"group":"","resource":%q,"version":"v1"}`, c.resource),
			"kind": fmt.Sprintf(`{"group":"","kind":%q,"version":"v1"}`, c.kind), "object.kind": fmt.Sprintf("%q", c.kind), "object." + c.field: c.value, "object.metadata": "", "oldObject": "", "options": "",
		}
		m.set(patches(fmt.Sprintf(`[{"op":"replace","path":"/%s","value":%s}]`, c.field, c.patched)))
		s.wantText(s.Send(400, c.method, c.path, "", ""), "denied the request")
		only(t, m).want(t, c.method+" "+c.path, want)
		want["object."+c.field] = c.patched
		only(t, v).want(t, c.method+" "+c.path, want)
	}
}
