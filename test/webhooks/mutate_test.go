package webhooks

import (
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
		write(w, q, `"allowed":true,`+patchMembers(`[{"op":"add","path":"/data/s","value":"`+s+letter+`"}]`))
	}
}

// TestOrder: mutating webhooks are asked one after the other, by the names of their configurations and then as they
// are listed, each about what the ones before have made; validating ones about what comes out.
func TestOrder(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	var hooks []*hookServer
	for _, letter := range []string{"1", "2", "3", "4"} {
		hooks = append(hooks, start(t, appends(letter)))
	}
	v := start(t, allow)
	s.register(validating, "a", hook{rules: onlyConfigMaps}.text(v))
	s.register(mutating, "b", hook{name: "z.a.b", rules: onlyConfigMaps}.text(hooks[1]), hook{name: "a.a.b", rules: onlyConfigMaps}.text(hooks[2]))
	s.register(mutating, "c", hook{rules: onlyConfigMaps}.text(hooks[3]))
	s.register(mutating, "a", hook{rules: onlyConfigMaps}.text(hooks[0]))
	s.wantText(s.create(201, "x", `{"s":"0"}`), `"s":"01234"`)
	only(t, v).want(t, "validating", map[string]string{"object.data": `{"s":"01234"}`})
}

// TestReinvocation: who wants to be asked again is, once, if somebody has changed the object after it; be it one
// that is itself asked again.
func TestReinvocation(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	again, never, last := start(t, appends("a")), start(t, appends("n")), start(t, appends("l"))
	const ifNeeded = `"reinvocationPolicy":"IfNeeded"`
	s.register(mutating, "a", hook{rules: onlyConfigMaps, more: ifNeeded}.text(again))
	s.register(mutating, "b", hook{rules: onlyConfigMaps}.text(never))
	s.register(mutating, "c", hook{rules: onlyConfigMaps, more: ifNeeded}.text(last))
	s.wantText(s.create(201, "x", `{"s":"-"}`), `"s":"-anlal"`)
	if a, n, l := len(again.questions()), len(never.questions()), len(last.questions()); a != 2 || n != 1 || l != 2 {
		t.Errorf("asked %d, %d and %d times", a, n, l)
	}
	never.set(allow)
	last.set(allow)
	s.wantText(s.create(201, "y", `{"s":"-"}`), `"s":"-a"`)
	if a := len(again.questions()); a != 1 {
		t.Errorf("without a change after it: asked %d times", a)
	}
}

// TestBuiltInPluginsRunAgain: what a webhook changes is completed by the plugins of the server.
func TestBuiltInPluginsRunAgain(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	h := start(t, patches(`[{"op":"remove","path":"/metadata/finalizers"}]`))
	s.register(mutating, "m", hook{rules: rule("CREATE", "", "v1", "persistentvolumeclaims")}.text(h))
	a := s.Send(201, "POST", "/api/v1/namespaces/default/persistentvolumeclaims", client.JSON, `{"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`)
	s.wantText(a, "platform.io/pvc-protection")
}

// TestDryRun: a webhook with side effects is not asked about a dry run, which fails.
func TestDryRun(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	for _, kind := range []string{mutating, validating} {
		h := start(t, allow)
		s.register(kind, "x", hook{rules: onlyConfigMaps, effects: "NoneOnDryRun"}.text(h))
		s.Send(201, "POST", configMaps+"?dryRun=All", client.JSON, configMap("a", `{}`))
		only(t, h).want(t, kind, map[string]string{"dryRun": "true", "options.dryRun": `["All"]`})
		s.unregister(kind, "x")
	}
	h := start(t, patches(`[{"op":"add","path":"/data","value":{"x":"y"}}]`))
	s.register(mutating, "x", hook{rules: onlyConfigMaps}.text(h))
	s.wantText(s.Send(201, "POST", configMaps+"?dryRun=All", client.JSON, configMap("a", `{}`)), `"x":"y"`)
	s.Send(404, "GET", configMaps+"/a", "", "")
}

// TestWarnings: what a webhook warns of is told, whether it refuses or not.
func TestWarnings(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	h := start(t, respond(`"allowed":true,"warnings":["careful","careful","\u0007bell","`+strings.Repeat("é", 200)+`"]`))
	s.register(validating, "v", hook{rules: onlyConfigMaps}.text(h))
	a := s.create(201, "a", `{}`)
	if got := a.Header["Warning"]; len(got) != 3 || got[0] != `299 - "careful"` || got[1] != `299 - "bell"` {
		t.Errorf("warnings %q", got)
	}
	h.set(respond(`"allowed":false,"warnings":["no"]`))
	if got := s.create(400, "b", `{}`).Header["Warning"]; len(got) != 1 || got[0] != `299 - "no"` {
		t.Errorf("with a refusal: warnings %q", got)
	}
	var long []string
	for i := range 40 {
		long = append(long, fmt.Sprintf(`"%02d%s"`, i, strings.Repeat("x", 300)))
	}
	h.set(respond(`"allowed":true,"warnings":[` + strings.Join(long, ",") + `]`))
	if got := s.create(201, "c", `{}`).Header["Warning"]; len(got) != 16 || len(got[0]) != 256+len(`299 - ""`) {
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
				if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				s := open(t, func(c *daemon.Config) { c.Naming, c.Audit.PolicyFile, c.Audit.Log.Path = naming, policy, log })
				s.naming = naming
				first := start(t, respond(`"allowed":true,"auditAnnotations":{"key":"value","not a key":"x"},`+patchMembers(`[{"op":"add","path":"/data/x","value":"y"}]`)))
				second := start(t, allow)
				dead := start(t, allow)
				deadText := hook{name: "dead.example.com", rules: onlyConfigMaps, more: `"failurePolicy":"Ignore"`}.text(dead)
				dead.Close()
				s.register(mutating, "a", hook{rules: rule("*", "", "v1", "secrets")}.text(second))
				s.register(mutating, "b", hook{name: "first.example.com", rules: onlyConfigMaps, more: `"reinvocationPolicy":"IfNeeded"`}.text(first), deadText)
				s.register(mutating, "c", hook{name: "second.example.com", rules: onlyConfigMaps}.text(second))
				s.register(validating, "v", deadText)
				s.Send(201, "POST", configMaps+"?x=1", client.JSON, configMap("x", `{"k":"v"}`))
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

// series are the metrics whose lines match a pattern.
func (s session) series(pattern string) []string {
	s.T.Helper()
	a := s.Send(200, "GET", "/metrics", "", "")
	return regexp.MustCompile(`(?m)^`+pattern+`.*$`).FindAllString(string(a.Body), -1)
}

// TestMetrics: what became of webhooks is counted, with the labels that dashboards know, and no more series are kept than there are
// webhooks.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	h := start(t, respond(`"allowed":false,"status":{"code":777}`))
	s.register(validating, "v", hook{name: "v.example.com", rules: onlyConfigMaps}.text(h))
	s.create(777, "a", `{}`)
	h.set(func(_ question, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) })
	s.create(500, "a", `{}`)
	h.set(allow)
	s.create(201, "a", `{}`)
	s.unregister(validating, "v")
	s.register(mutating, "m", hook{name: "m.example.com", rules: onlyConfigMaps, more: `"failurePolicy":"Ignore"`}.text(h))
	s.register(validating, "v", hook{name: "v.example.com", rules: rule("*", "", "v1", "secrets")}.text(h))
	if got := s.series(`apiserver_admission_webhook_\w+{name="v`); len(got) > 0 {
		t.Errorf("series of a webhook that is gone: %q", got)
	}
	h.set(patches(`[{"op":"remove","path":"/data/absent"}]`))
	s.create(500, "b", `{}`)
	h.set(respond(`"allowed":false,"status":{"code":403}`))
	s.Send(403, "DELETE", configMaps+"/a", "", "")
	h.set(func(_ question, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) })
	s.create(201, "c", `{}`)
	h.set(allow)
	s.create(201, "d", `{}`)
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
	s := open(t, nil)
	h := start(t, respond(`"allowed":false,"status":{"code":777}`))
	s.register(validating, "v", hook{name: "v.example.com", rules: onlyConfigMaps}.text(h))
	s.create(777, "a", `{}`)
	h.set(func(_ question, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") })
	s.create(500, "a", `{}`)
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
	s := open(t, nil)
	h := start(t, allow)
	conditioned := func(name, policy, expression string) string {
		return hook{name: name, rules: onlyConfigMaps, more: `"failurePolicy":"` + policy + `","matchConditions":[{"name":"always","expression":"true"},{"name":"c","expression":"` + expression + `"}]`}.text(h)
	}
	s.register(mutating, "m", conditioned("m.example.com", "Ignore", "object.data.x == 'y'"))
	s.register(validating, "v", conditioned("v.example.com", "Fail", "object.data.x != 'n'"))
	s.create(201, "a", `{"x":"y"}`)
	s.create(201, "b", `{"x":"n"}`)
	s.create(403, "c", `{}`)
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
