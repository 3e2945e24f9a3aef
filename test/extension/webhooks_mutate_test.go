package extension

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// appends answers with a patch that appends a letter to the datum "s".
func appends(letter string) func(q question, w http.ResponseWriter, r *http.Request) {
	return func(q question, w http.ResponseWriter, _ *http.Request) {
		s := q.text("object", "data", "s")
		writeWebhooks(w, q, `"allowed":true,`+patchMembers(`[{"op":"add","path":"/data/s","value":"`+s+letter+`"}]`))
	}
}

// TestWebhookOrder: mutating webhooks are asked one after the other, by the names of their configurations and then as they
// are listed, each about what the ones before have made; validating ones about what comes out.
func TestWebhookOrder(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	var hooks []*hookServer
	for _, letter := range []string{"1", "2", "3", "4"} {
		hooks = append(hooks, startWebhooks(t, appends(letter)))
	}
	v := startWebhooks(t, allow)
	s.register(validating, "a", webhookHook{rules: onlyConfigMaps}.text(v))
	s.register(mutating, "b", webhookHook{name: "z.a.b", rules: onlyConfigMaps}.text(hooks[1]), webhookHook{name: "a.a.b", rules: onlyConfigMaps}.text(hooks[2]))
	s.register(mutating, "c", webhookHook{rules: onlyConfigMaps}.text(hooks[3]))
	s.register(mutating, "a", webhookHook{rules: onlyConfigMaps}.text(hooks[0]))
	s.wantText(s.create(201, "x", `"s":"0"`), `"s":"01234"`)
	only(t, v).want(t, "validating", map[string]string{"object.data": `{"s":"01234"}`})
}

// TestReinvocation: who wants to be asked again is, once, if somebody has changed the object after it; be it one
// that is itself asked again.
func TestReinvocation(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	again, never, last := startWebhooks(t, appends("a")), startWebhooks(t, appends("n")), startWebhooks(t, appends("l"))
	const ifNeeded = `"reinvocationPolicy":"IfNeeded"`
	s.register(mutating, "a", webhookHook{rules: onlyConfigMaps, more: ifNeeded}.text(again))
	s.register(mutating, "b", webhookHook{rules: onlyConfigMaps}.text(never))
	s.register(mutating, "c", webhookHook{rules: onlyConfigMaps, more: ifNeeded}.text(last))
	s.wantText(s.create(201, "x", `"s":"-"`), `"s":"-anlal"`)
	if a, n, l := len(again.questions()), len(never.questions()), len(last.questions()); a != 2 || n != 1 || l != 2 {
		t.Errorf("asked %d, %d and %d times", a, n, l)
	}
	never.set(allow)
	last.set(allow)
	s.wantText(s.create(201, "y", `"s":"-"`), `"s":"-a"`)
	if a := len(again.questions()); a != 1 {
		t.Errorf("without a change after it: asked %d times", a)
	}
}

// TestChangedIdentity checks that changes of an object's identity are applied or rejected, and
// never dropped, for every verb.
func TestChangedIdentity(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	const (
		deployments = "/apis/apps/v1/namespaces/default/deployments"
		nodes       = "/api/v1/nodes"
		leases      = "/apis/coordination.platform.io/v1/namespaces/default/leases"
		gadgets     = "/apis/renamed.example.com/v1/namespaces/default/gadgets"
		applyYAML   = "application/apply-patch+yaml"
	)
	s.Send(201, "POST", "/apis/apiextensions.platform.io/v1/customresourcedefinitions", client.JSON, `{"metadata":{"name":"gadgets.renamed.example.com"},"spec":{"group":"renamed.example.com","scope":"Namespaced",
		"names":{"plural":"gadgets","singular":"gadget","kind":"Gadget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
	const gadget = `{"apiVersion":"renamed.example.com/v1","kind":"Gadget","metadata":{"name":"$"}}`
	client.Eventually(t, func() error { // for a definition to be served
		a, err := s.Do(s.Ctx, "POST", gadgets, client.JSON, []byte(strings.ReplaceAll(gadget, "$", "taken")))
		if err == nil && a.Code != 201 {
			err = &a
		}
		return err
	})
	s.create(201, "taken", "")
	s.create(201, "there", "")
	s.Send(201, "POST", deployments, client.JSON, `{"metadata":{"name":"there"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	h := startWebhooks(t, allow)
	s.register(mutating, "m", webhookHook{rules: rule("*", "*", "v1", "configmaps,nodes,leases,gadgets,deployments,deployments/status,deployments/scale,pods/eviction,bindings")}.text(h))
	set := func(name, value string) string {
		return `[{"op":"add","path":"/metadata/` + name + `","value":` + value + `}]`
	}
	remove := func(name string) string { return `[{"op":"remove","path":"/metadata/` + name + `"}]` }
	named, generated := configMap("$", ""), `{"metadata":{"generateName":"g-"}}`
	note := `{"metadata":{"annotations":{"n":"$"}}}`
	for i, c := range []struct {
		what, method, path, contentType, body, patch string
		code                                         int
		want                                         string
	}{
		{"the name of a new object", "POST", configMaps, client.JSON, named, set("name", `"new-1"`), 201, `"name":"new-1"`},
		{"the name of a new object whose own is taken", "POST", configMaps, client.JSON, configMap("taken", ""), set("name", `"new-2"`), 201, `"name":"new-2"`},
		{"a name that is taken", "POST", configMaps, client.JSON, named, set("name", `"taken"`), 409, `configmaps \"taken\" already exists`},
		{"a name that is none", "POST", configMaps, client.JSON, named, set("name", `"A b"`), 422, `metadata.name: Invalid value: \"A b\"`},
		{"no name", "POST", configMaps, client.JSON, named, remove("name"), 422, "name or generateName is required"},
		{"a name where there is none", "POST", configMaps, client.JSON, `{}`, set("name", `"new-3"`), 201, `"name":"new-3"`},
		{"a name in place of a generated one", "POST", configMaps, client.JSON, generated, set("name", `"new-4"`), 201, `"name":"new-4"`},
		{"another prefix of a generated name", "POST", configMaps, client.JSON, generated, set("generateName", `"h-"`), 201, `"name":"h-`},
		{"a prefix in place of a name", "POST", configMaps, client.JSON, named, `[{"op":"remove","path":"/metadata/name"},{"op":"add","path":"/metadata/generateName","value":"k-"}]`, 201, `"name":"k-`},
		{"the name of a dry run", "POST", configMaps + "?dryRun=All", client.JSON, named, set("name", `"new-5"`), 201, `"name":"new-5"`},
		{"the name of a new object of a cluster", "POST", nodes, client.JSON, `{"metadata":{"name":"$"}}`, set("name", `"new-6"`), 201, `"name":"new-6"`},
		{"the name of a new custom object", "POST", gadgets, client.JSON, gadget, set("name", `"new-7"`), 201, `"name":"new-7"`},
		{"a name of a custom object that is taken", "POST", gadgets, client.JSON, gadget, set("name", `"taken"`), 409, "already exists"},
		{"the name of an object that an update creates", "PUT", leases + "/$", client.JSON, `{"metadata":{"name":"$"}}`, set("name", `"other"`), 400, "does not match the name on the URL"},
		{"the name of an object that an apply creates", "PATCH", configMaps + "/$?fieldManager=m", applyYAML, named, set("name", `"other"`), 400, "does not match the name on the URL"},
		{"the name with an update", "PUT", configMaps + "/there", client.JSON, configMap("there", `"a":"$"`), set("name", `"other"`), 422, "metadata.name: Invalid value: \\\"other\\\": field is immutable"},
		{"the name with a patch", "PATCH", configMaps + "/there", client.MergePatch, note, set("name", `"other"`), 422, "metadata.name"},
		{"the name with an apply", "PATCH", configMaps + "/there?fieldManager=m", applyYAML, configMap("there", `"b":"$"`), set("name", `"other"`), 422, "metadata.name"},
		{"no name with a patch", "PATCH", configMaps + "/there", client.MergePatch, note, remove("name"), 422, "metadata.name"},
		{"the name with a status", "PATCH", deployments + "/there/status", client.MergePatch, note, set("name", `"other"`), 422, "metadata.name"},
		{"the name with a scale", "PATCH", deployments + "/there/scale", client.MergePatch, `{"spec":{"replicas":2}}`, set("name", `"other"`), 400, "does not match the name on the URL"},
		{"the name of a Binding", "POST", "/api/v1/namespaces/default/bindings", client.JSON, `{"metadata":{"name":"$"},"target":{"name":"n"}}`, set("name", `"other"`), 404, `pods \"other\" not found`},
		{"the namespace of a new object", "POST", configMaps, client.JSON, named, set("namespace", `"kube-system"`), 400, "the namespace of the provided object does not match"},
		{"no namespace", "POST", configMaps, client.JSON, configMap("new-8", ""), remove("namespace"), 201, `"namespace":"default"`},
		{"the namespace of what has none", "POST", nodes, client.JSON, `{"metadata":{"name":"new-9"}}`, set("namespace", `"default"`), 201, `"name":"new-9"`},
		{"the namespace with a patch", "PATCH", configMaps + "/there", client.MergePatch, note, set("namespace", `"kube-system"`), 400, "the namespace of the provided object does not match"},
		{"the namespace with a scale", "PATCH", deployments + "/there/scale", client.MergePatch, `{"spec":{"replicas":2}}`, set("namespace", `"kube-system"`), 400, "the namespace of the provided object does not match"},
		{"the namespace of a Binding", "POST", "/api/v1/namespaces/default/bindings", client.JSON, `{"metadata":{"name":"$"},"target":{"name":"n"}}`, set("namespace", `"kube-system"`), 400, "the namespace of the provided object does not match"},
		{"a version of a new object", "POST", configMaps, client.JSON, named, set("resourceVersion", `"7"`), 500, "resourceVersion should not be set on objects to be created"},
		{"another version", "PATCH", configMaps + "/there", client.MergePatch, note, set("resourceVersion", `"1"`), 409, "the object has been modified"},
		{"a version that is none", "PATCH", configMaps + "/there", client.MergePatch, note, set("resourceVersion", `"x"`), 500, "which is no version"},
		{"no version", "PATCH", configMaps + "/there", client.MergePatch, note, remove("resourceVersion"), 200, `"name":"there"`},
		{"no version where it is required", "PUT", gadgets + "/taken", client.JSON, "", remove("resourceVersion"), 422, "must be specified for an update"},
		{"another version of a scale", "PATCH", deployments + "/there/scale", client.MergePatch, `{"spec":{"replicas":2}}`, set("resourceVersion", `"1"`), 409, "the object has been modified"},
		{"another uid", "PATCH", configMaps + "/there", client.MergePatch, note, set("uid", `"other"`), 422, "metadata.uid"},
		{"another uid with a status", "PATCH", deployments + "/there/status", client.MergePatch, note, set("uid", `"other"`), 422, "metadata.uid"},
		{"no uid", "PATCH", configMaps + "/there", client.MergePatch, note, remove("uid"), 200, `"uid":"`},
		{"the generation of what has none of its own", "POST", configMaps, client.JSON, named, set("generation", `7`), 201, `"generation":7`},
		{"the end of a new object", "POST", configMaps, client.JSON, named, set("deletionTimestamp", `"2020-01-01T00:00:00Z"`), 422, "metadata.deletionTimestamp"},
		{"finalizers", "POST", configMaps, client.JSON, configMap("new-10", ""), set("finalizers", `["example.com/f"]`), 201, `"finalizers":["example.com/f"]`},
		{"managed fields", "PATCH", configMaps + "/there", client.MergePatch, note, set("managedFields", `[{"manager":"m2","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}]`), 200, `"manager":"m2"`},
		{"managed fields that are none", "PATCH", configMaps + "/there", client.MergePatch, note, set("managedFields", `[{"manager":"m3","operation":"Guess"}]`), 200, `"manager":"m2"`},
		{"another kind", "POST", configMaps, client.JSON, named, `[{"op":"replace","path":"/kind","value":"Secret"}]`, 500, ""},
		{"another version of the kind", "POST", configMaps, client.JSON, named, `[{"op":"replace","path":"/apiVersion","value":"v2"}]`, 500, ""},
		{"no kind", "POST", configMaps, client.JSON, configMap("new-11", ""), `[{"op":"remove","path":"/kind"},{"op":"remove","path":"/apiVersion"}]`, 201, `"kind":"ConfigMap"`},
		{"no kind of a custom object", "POST", gadgets, client.JSON, gadget, `[{"op":"remove","path":"/kind"}]`, 500, ""},
		{"an object to delete", "DELETE", configMaps + "/there", "", "", set("name", `"other"`), 500, "attempted to modify the object"},
	} {
		h.set(patches(c.patch))
		name := fmt.Sprint("old-", i+1)
		body := strings.ReplaceAll(c.body, "$", name)
		if body == "" && c.method == "PUT" {
			body = string(s.Send(200, "GET", c.path, "", "").Body)
		}
		before := s.Send(200, "GET", configMaps, "", "").Object()
		a, err := s.Do(s.Ctx, c.method, strings.ReplaceAll(c.path, "$", name), c.contentType, []byte(body))
		if err != nil || a.Code != c.code || !strings.Contains(string(a.Body), c.want) {
			t.Errorf("%s: %d %.400s, %v; want %d, %s", c.what, a.Code, a.Body, err, c.code, c.want)
		}
		if after := s.Send(200, "GET", configMaps, "", "").Object(); c.code >= 400 && asJSON(after["items"]) != asJSON(before["items"]) {
			t.Errorf("%s: a refused request has changed %s to %s", c.what, asJSON(before), asJSON(after))
		}
	}
	for _, name := range []string{"new-1", "new-2", "new-3", "new-4"} {
		s.wantText(s.Send(200, "GET", configMaps+"/"+name, "", ""), `"name":"`+name+`"`)
	}
	s.Send(404, "GET", configMaps+"/old-1", "", "")
	s.Send(404, "GET", configMaps+"/new-5", "", "")
}

// TestRenamedIsValidated checks that validating webhooks see a renamed object under the name of the
// request, and that mutating ones are not called again.
func TestRenamedIsValidated(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	m, v := startWebhooks(t, patches(`[{"op":"replace","path":"/metadata/name","value":"new"}]`)), startWebhooks(t, allow)
	s.register(mutating, "m", webhookHook{rules: onlyConfigMaps}.text(m))
	s.register(validating, "v", webhookHook{rules: onlyConfigMaps}.text(v))
	s.wantText(s.create(201, "old", ""), `"name":"new"`)
	only(t, m)
	only(t, v).want(t, "validating", map[string]string{"name": `"old"`, "object.metadata.name": `"new"`})
	v.set(respond(`"allowed":false`))
	s.create(400, "old", "") // it comes before the name that is taken
	v.set(allow)
	s.create(409, "old", "")
}

// TestBuiltInPluginsRunAgain: what a webhook changes is completed by the plugins of the server.
func TestBuiltInPluginsRunAgain(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	h := startWebhooks(t, patches(`[{"op":"remove","path":"/metadata/finalizers"}]`))
	s.register(mutating, "m", webhookHook{rules: rule("CREATE", "", "v1", "persistentvolumeclaims")}.text(h))
	a := s.Send(201, "POST", "/api/v1/namespaces/default/persistentvolumeclaims", client.JSON, `{"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`)
	s.wantText(a, "platform.io/pvc-protection")
}

// TestDryRun: a webhook with side effects is not asked about a dry run, which fails.
func TestDryRun(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	for _, kind := range []string{mutating, validating} {
		h := startWebhooks(t, allow)
		s.register(kind, "x", webhookHook{rules: onlyConfigMaps, effects: "NoneOnDryRun"}.text(h))
		s.Send(201, "POST", configMaps+"?dryRun=All", client.JSON, configMap("a", ""))
		only(t, h).want(t, kind, map[string]string{"dryRun": "true", "options.dryRun": `["All"]`})
		s.unregister(kind, "x")
	}
	h := startWebhooks(t, patches(`[{"op":"add","path":"/data","value":{"x":"y"}}]`))
	s.register(mutating, "x", webhookHook{rules: onlyConfigMaps}.text(h))
	s.wantText(s.Send(201, "POST", configMaps+"?dryRun=All", client.JSON, configMap("a", "")), `"x":"y"`)
	s.Send(404, "GET", configMaps+"/a", "", "")
}

// TestWarnings: what a webhook warns of is told, whether it refuses or not.
func TestWarnings(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	h := startWebhooks(t, respond(`"allowed":true,"warnings":["careful","careful","\u0007bell","`+strings.Repeat("é", 200)+`"]`))
	s.register(validating, "v", webhookHook{rules: onlyConfigMaps}.text(h))
	a := s.create(201, "a", "")
	if got := a.Header["Warning"]; len(got) != 3 || got[0] != `299 - "careful"` || got[1] != `299 - "bell"` {
		t.Errorf("warnings %q", got)
	}
	h.set(respond(`"allowed":false,"warnings":["no"]`))
	if got := s.create(400, "b", "").Header["Warning"]; len(got) != 1 || got[0] != `299 - "no"` {
		t.Errorf("with a refusal: warnings %q", got)
	}
	var long []string
	for i := range 40 {
		long = append(long, fmt.Sprintf(`"%02d%s"`, i, strings.Repeat("x", 300)))
	}
	h.set(respond(`"allowed":true,"warnings":[` + strings.Join(long, ",") + `]`))
	if got := s.create(201, "c", "").Header["Warning"]; len(got) != 16 || len(got[0]) != 256+len(`299 - ""`) {
		t.Errorf("%d long warnings, the first of %d", len(got), len(got[0]))
	}
}

// annotations are those of the audit event of one request.
func annotations(t *testing.T, path, uri string) map[string]string {
	t.Helper()
	var found map[string]string
	client.Eventually(t, func() error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, line := range strings.Split(string(text), "\n") {
			var event struct {
				RequestURI, Stage string
				Annotations       map[string]string
			}
			if json.Unmarshal([]byte(line), &event) == nil && event.RequestURI == uri && event.Stage == "ResponseComplete" {
				found = event.Annotations
				return nil
			}
		}
		return fmt.Errorf("no event of %s", uri)
	})
	return found
}

// TestAuditAnnotations: what became of webhooks is in the audit event, by its level, in the names of both profiles.
func TestAuditAnnotations(t *testing.T) {
	t.Parallel()
	for _, naming := range []string{"platform", "kubernetes"} {
		for _, level := range []string{"Metadata", "Request"} {
			t.Run(naming+" "+level, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				policy, log := filepath.Join(dir, "policy"), filepath.Join(dir, "log")
				suffix := map[string]string{"platform": "platform.io", "kubernetes": "k8s.io"}[naming]
				text := "apiVersion: audit." + suffix + "/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: " + level + "}]"
				client.WriteFile(t, policy, text)
				s := openWebhooks(t, func(c *daemon.Config) { c.Naming, c.Audit.PolicyFile, c.Audit.Log.Path = naming, policy, log })
				s.naming = naming
				first := startWebhooks(t, respond(`"allowed":true,"auditAnnotations":{"key":"value","not a key":"x"},`+patchMembers(`[{"op":"add","path":"/data/x","value":"y"}]`)))
				second := startWebhooks(t, allow)
				dead := startWebhooks(t, allow)
				deadText := webhookHook{name: "dead.example.com", rules: onlyConfigMaps, more: `"failurePolicy":"Ignore"`}.text(dead)
				dead.Close()
				s.register(mutating, "a", webhookHook{rules: rule("*", "", "v1", "secrets")}.text(second))
				s.register(mutating, "b", webhookHook{name: "first.example.com", rules: onlyConfigMaps, more: `"reinvocationPolicy":"IfNeeded"`}.text(first), deadText)
				s.register(mutating, "c", webhookHook{name: "second.example.com", rules: onlyConfigMaps}.text(second))
				s.register(validating, "v", deadText)
				s.Send(201, "POST", configMaps+"?x=1", client.JSON, configMap("x", `"k":"v"`))
				got := annotations(t, log, configMaps+"?x=1")
				mutation, patch := "mutation.webhook.admission."+suffix+"/round_0_index_", "patch.webhook.admission."+suffix+"/round_0_index_"
				want := map[string]string{
					mutation + "1": `{"configuration":"b","webhook":"first.example.com","mutated":true}`, mutation + "2": `{"configuration":"b","webhook":"dead.example.com","mutated":false}`,
					mutation + "3": `{"configuration":"c","webhook":"second.example.com","mutated":false}`, mutation + "0": "",
					patch + "1":                     `{"configuration":"b","webhook":"first.example.com","patch":[{"op":"add","path":"/data/x","value":"y"}],"patchType":"JSONPatch"}`,
					"failed-open." + mutation + "2": "dead.example.com",
					"first.example.com/key":         "value",
					"first.example.com/not a key":   "",
					"failed-open.validating.webhook.admission." + suffix + "/round_0_index_0": "dead.example.com",
				}
				if level == "Metadata" {
					want[patch+"1"] = ""
				}
				for key, value := range want {
					if got[key] != value {
						t.Errorf("%s is %q, want %q", key, got[key], value)
					}
				}
			})
		}
	}
}

// TestAuditAnnotationsOfOthers checks the annotations of failed policies and issued tokens, in both
// profiles.
func TestAuditAnnotationsOfOthers(t *testing.T) {
	t.Parallel()
	for naming, suffixes := range map[string][2]string{"platform": {"platform.io", "platform.io"}, "kubernetes": {"k8s.io", "kubernetes.io"}} {
		t.Run(naming, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			policy, log := filepath.Join(dir, "policy"), filepath.Join(dir, "log")
			client.WriteFile(t, policy, "apiVersion: audit."+suffixes[0]+"/v1\nkind: Policy\nrules: [{level: Metadata}]")
			s := openWebhooks(t, func(c *daemon.Config) { c.Naming, c.Audit.PolicyFile, c.Audit.Log.Path = naming, policy, log })
			s.naming = naming
			s.Send(201, "POST", "/apis/"+s.group("admissionregistration")+"/v1/validatingadmissionpolicies", client.JSON,
				`{"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[`+onlyConfigMaps+`]},"validations":[{"expression":"false","message":"no"}]}}`)
			s.Send(201, "POST", "/apis/"+s.group("admissionregistration")+"/v1/validatingadmissionpolicybindings", client.JSON,
				`{"metadata":{"name":"b"},"spec":{"policyName":"p","validationActions":["Audit"]}}`)
			s.Send(201, "POST", configMaps+"?x=1", client.JSON, configMap("x", ""))
			if got := annotations(t, log, configMaps+"?x=1")["validation.policy.admission."+suffixes[0]+"/validation_failure"]; !strings.Contains(got, `"message":"no"`) {
				t.Errorf("the annotation of a failed policy is %q", got)
			}
			const tokens = "/api/v1/namespaces/default/serviceaccounts/default/token"
			token := s.Send(201, "POST", tokens, client.JSON, `{}`).Object().At("status.token")
			claims, err := base64.RawURLEncoding.DecodeString(strings.Split(fmt.Sprint(token)+"..", ".")[1])
			if err != nil {
				t.Fatal(err)
			}
			got := annotations(t, log, tokens)["authentication."+suffixes[1]+"/issued-credential-id"]
			if id, isID := strings.CutPrefix(got, "JTI="); !isID || id == "" || !strings.Contains(string(claims), `"jti":"`+id+`"`) {
				t.Errorf("the annotation of a token is %q, its claims are %s", got, claims)
			}
		})
	}
}

// series are the metrics whose lines match a pattern.
func (s webhookSession) series(pattern string) []string {
	s.T.Helper()
	a := s.Send(200, "GET", "/metrics", "", "")
	return regexp.MustCompile(`(?m)^`+pattern+`.*$`).FindAllString(string(a.Body), -1)
}

// TestWebhookMetrics: what became of webhooks is counted, with the labels that dashboards know, and no more series are kept than there are
// webhooks.
func TestWebhookMetrics(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	h := startWebhooks(t, respond(`"allowed":false,"status":{"code":777}`))
	s.register(validating, "v", webhookHook{name: "v.example.com", rules: onlyConfigMaps}.text(h))
	s.create(777, "a", "")
	h.set(func(_ question, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) })
	s.create(500, "a", "")
	h.set(allow)
	s.create(201, "a", "")
	s.unregister(validating, "v")
	s.register(mutating, "m", webhookHook{name: "m.example.com", rules: onlyConfigMaps, more: `"failurePolicy":"Ignore"`}.text(h))
	s.register(validating, "v", webhookHook{name: "v.example.com", rules: rule("*", "", "v1", "secrets")}.text(h))
	if got := s.series(`apiserver_admission_webhook_\w+{name="v`); len(got) > 0 {
		t.Errorf("series of a webhook that is gone: %q", got)
	}
	h.set(patches(`[{"op":"remove","path":"/data/absent"}]`))
	s.create(500, "b", "")
	h.set(respond(`"allowed":false,"status":{"code":403}`))
	s.Send(403, "DELETE", configMaps+"/a", "", "")
	h.set(func(_ question, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) })
	s.create(201, "c", "")
	h.set(allow)
	s.create(201, "d", "")
	for _, want := range []string{
		`apiserver_admission_webhook_rejection_count{name="m.example.com",type="admit",operation="CREATE",error_type="apiserver_internal_error",rejection_code="0"} 1`,
		`apiserver_admission_webhook_rejection_count{name="m.example.com",type="admit",operation="DELETE",error_type="no_error",rejection_code="403"} 1`,
		`apiserver_admission_webhook_request_total{name="m.example.com",type="admit",operation="CREATE",code="200",rejected="false"} 1`,
		`apiserver_admission_webhook_request_total{name="m.example.com",type="admit",operation="CREATE",code="502",rejected="false"} 1`,
		`apiserver_admission_webhook_fail_open_count{name="m.example.com",type="admit"} 1`,
		`apiserver_admission_webhook_admission_duration_seconds_count{name="m.example.com",type="admit",operation="CREATE",rejected="false"} 2`,
		`apiserver_admission_webhook_admission_duration_seconds_bucket{name="m.example.com",type="admit",operation="CREATE",rejected="false",le="+Inf"} 2`,
	} {
		if got := s.series(regexp.QuoteMeta(want)); len(got) != 1 {
			t.Errorf("no %s in %q", want, s.series("apiserver_admission_webhook_"))
		}
	}
}

// TestRejectionMetric: the codes and the sorts of errors of refusals.
func TestRejectionMetric(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	h := startWebhooks(t, respond(`"allowed":false,"status":{"code":777}`))
	s.register(validating, "v", webhookHook{name: "v.example.com", rules: onlyConfigMaps}.text(h))
	s.create(777, "a", "")
	h.set(func(_ question, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") })
	s.create(500, "a", "")
	for _, want := range []string{
		`apiserver_admission_webhook_rejection_count{name="v.example.com",type="validating",operation="CREATE",error_type="no_error",rejection_code="600"} 1`,
		`apiserver_admission_webhook_rejection_count{name="v.example.com",type="validating",operation="CREATE",error_type="calling_webhook_error",rejection_code="503"} 1`,
	} {
		if got := s.series(regexp.QuoteMeta(want)); len(got) != 1 {
			t.Errorf("no %s in %q", want, s.series("apiserver_admission_webhook_rejection"))
		}
	}
}

// TestConditionMetrics: matchConditions that exclude a webhook or cannot be evaluated are counted.
func TestConditionMetrics(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	h := startWebhooks(t, allow)
	conditioned := func(name, policy, expression string) string {
		return webhookHook{name: name, rules: onlyConfigMaps, more: `"failurePolicy":"` + policy + `","matchConditions":[{"name":"always","expression":"true"},{"name":"c","expression":"` + expression + `"}]`}.text(h)
	}
	s.register(mutating, "m", conditioned("m.example.com", "Ignore", "object.data.x == 'y'"))
	s.register(validating, "v", conditioned("v.example.com", "Fail", "object.data.x != 'n'"))
	s.create(201, "a", `"x":"y"`)
	s.create(201, "b", `"x":"n"`)
	s.create(403, "c", "")
	const prefix = "apiserver_admission_match_condition_"
	for _, want := range []string{
		`exclusions_total{kind="webhook",name="m.example.com",operation="CREATE",type="admit"} 2`,
		`exclusions_total{kind="webhook",name="v.example.com",operation="CREATE",type="validating"} 1`,
		`evaluation_errors_total{kind="webhook",name="m.example.com",operation="CREATE",type="admit"} 1`,
		`evaluation_errors_total{kind="webhook",name="v.example.com",operation="CREATE",type="validating"} 1`,
		`evaluation_seconds_count{kind="webhook",name="m.example.com",operation="CREATE",type="admit"} 2`,
		`evaluation_seconds_bucket{kind="webhook",name="v.example.com",operation="CREATE",type="validating",le="+Inf"} 2`,
	} {
		if got := s.series(regexp.QuoteMeta(prefix + want)); len(got) != 1 {
			t.Errorf("no %s in %q", want, s.series(prefix))
		}
	}
}
