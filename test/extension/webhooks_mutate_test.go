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

func appends(letter string) func(q question, w http.ResponseWriter, r *http.Request) {
	return func(q question, w http.ResponseWriter, _ *http.Request) {
		s := q.text("object", "data", "s")
		writeWebhooks(w, q, `"allowed":true,`+patchMembers(`[{"op":"add","path":"/data/s","value":"`+s+letter+`"}]`))
	}
}

// annotations returns the annotations of the audit event for the request with the given URI.
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

// TestAuditAnnotations checks the audit annotations of webhooks at levels Metadata and Request, in
// both naming profiles.
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

// TestAuditAnnotationsOfOthers checks the audit annotations for failed policies and issued tokens,
// in both naming profiles.
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

func (s webhookSession) series(pattern string) []string {
	s.T.Helper()
	a := s.Send(200, "GET", "/metrics", "", "")
	return regexp.MustCompile(`(?m)^`+pattern+`.*$`).FindAllString(string(a.Body), -1)
}

// TestWebhookMetrics checks webhook metrics. Deleting a webhook must remove its series.
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

// TestRejectionMetric checks the codes and error types in the rejection metric.
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

// TestConditionMetrics checks the metrics for matchConditions that fail or exclude a webhook.
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
