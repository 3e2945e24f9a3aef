package extension

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestEquivalentAdmission checks that an admission webhook for one version receives writes through
// another version, after conversion. The webhook's patches are converted back.
func TestEquivalentAdmission(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	var mu sync.Mutex
	var seen []conversionObject
	admission := startConversion(t)
	admission.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var r struct{ Request conversionObject }
		_ = json.NewDecoder(q.Body).Decode(&r)
		mu.Lock()
		seen = append(seen, r.Request)
		mu.Unlock()
		fmt.Fprintf(w, `{"apiVersion":"admission.platform.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":true,"patchType":"JSONPatch","patch":"W3sib3AiOiJyZXBsYWNlIiwicGF0aCI6Ii9zcGVjL2hvc3QiLCJ2YWx1ZSI6Im11dGF0ZWQifV0="}}`, r.Request["uid"])
	})
	s.Send(201, "POST", "/apis/admissionregistration.platform.io/v1/mutatingwebhookconfigurations", client.JSON, `{"apiVersion":"admissionregistration.platform.io/v1","kind":"MutatingWebhookConfiguration",
		"metadata":{"name":"m"},"webhooks":[{"name":"m.example.com","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":`+admission.clientConfig()+`,
		"rules":[{"operations":["CREATE","UPDATE"],"apiGroups":["example.com"],"apiVersions":["v1"],"resources":["routes"]}]}]}`)
	o := s.Send(201, "POST", routesV2, client.JSON, v2("a", "host:80")).Object()
	s.want(o, `"hostPort":"mutated:80"`)
	s.wantSpec(routesV1+"/a", `{"host":"mutated","port":"80","proto":"tcp"}`)
	s.Send(200, "PATCH", routesV2+"/a", typeMerge, `{"spec":{"hostPort":"again:81"}}`)
	mu.Lock()
	defer mu.Unlock()
	if len(seen) < 2 {
		t.Fatalf("asked %d times", len(seen))
	}
	for i, want := range []string{`"spec":{"host":"host","port":"80"`, `"spec":{"host":"again","port":"81"`} {
		s.want(seen[i]["object"], want)
		s.want(seen[i]["object"], `"apiVersion":"example.com/v1"`)
		s.want(seen[i], `"requestKind":{"group":"example.com","kind":"Route","version":"v2"}`)
		s.want(seen[i], `"kind":{"group":"example.com","kind":"Route","version":"v1"}`)
	}
	s.want(seen[1]["oldObject"], `"spec":{"host":"mutated","port":"80"`)
	h.set(lie(func(r *review) { r.Response = nil }))
	if a := s.Send(500, "PATCH", routesV2+"/a", typeMerge, `{"spec":{"hostPort":"more:82"}}`); !strings.Contains(message(a), "conversion webhook for ") {
		t.Error(a)
	}
}

// TestEquivalentPolicy checks that an admission policy for one version evaluates writes through
// another version, after conversion.
func TestEquivalentPolicy(t *testing.T) {
	t.Parallel()
	s, _ := routed(t)
	const policies = "/apis/admissionregistration.platform.io/v1/"
	s.Send(201, "POST", policies+"validatingadmissionpolicies", client.JSON, `{"apiVersion":"admissionregistration.platform.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"p"},
		"spec":{"matchConstraints":{"resourceRules":[{"operations":["CREATE","UPDATE"],"apiGroups":["example.com"],"apiVersions":["v2"],"resources":["routes"]}]},
		"validations":[{"expression":"!object.spec.hostPort.startsWith('bad')","message":"no bad hosts"}]}}`)
	s.Send(201, "POST", policies+"validatingadmissionpolicybindings", client.JSON, `{"apiVersion":"admissionregistration.platform.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":"p"},"spec":{"policyName":"p","validationActions":["Deny"]}}`)
	s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "good", "80"))
	for _, path := range []string{routesV1, routesV2} {
		body := v1Conversion("b", "bad", "80")
		if path == routesV2 {
			body = v2("b", "bad:80")
		}
		if a := s.Send(422, "POST", path, client.JSON, body); !strings.Contains(message(a), "no bad hosts") {
			t.Error(a)
		}
	}
	s.Send(422, "PATCH", routesV1+"/a", typeMerge, `{"spec":{"host":"bad"}}`)
	s.wantSpec(routesV2+"/a", `{"hostPort":"good:80","proto":"tcp"}`)
}

// TestConversionService checks that a conversion webhook with a Service reference is called at the
// configured address. Its certificate must be valid for the Service.
func TestConversionService(t *testing.T) {
	t.Parallel()
	h := startConversion(t, "hook.default.svc")
	u, err := url.Parse(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	s := serveConversion(t, func(c *daemon.Config) {
		c.Admission.ServiceResolver = []string{"hook.default=127.0.0.1:" + u.Port(), "wrong.default=127.0.0.1:" + u.Port()}
	})
	service := func(name string) string {
		return fmt.Sprintf(`{"service":{"namespace":"default","name":%q,"path":"/convert"},"caBundle":%q}`, name, h.bundle)
	}
	s.define(routes{clientConfig: service("hook")})
	s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "host", "80"))
	s.wantSpec(routesV2+"/a", `{"hostPort":"host:80","proto":"tcp"}`)
	for name, want := range map[string]string{
		"wrong":  `Post "https://wrong.default.svc:443/convert?timeout=30s": tls: failed to verify certificate: x509: certificate is valid for hook.default.svc, not wrong.default.svc`,
		"nobody": `Post "https://nobody.default.svc:443/convert?timeout=30s": service "nobody" not found`,
	} {
		s.redefine(200, routes{clientConfig: service(name)})
		if a := s.Send(500, "GET", routesV2+"/a", "", ""); message(a) != failed+want {
			t.Errorf("%s, want %s", a, want)
		}
	}
}

// TestConversionMetrics checks that conversion metrics match those of kube-apiserver.
func TestConversionMetrics(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "host", "80"))
	s.Send(200, "GET", routesV2, "", "")
	h.set(lie(func(r *review) { r.Response = nil }))
	s.Send(201, "POST", routesV1, client.JSON, v1Conversion("b", "host", "80"))
	s.Send(500, "GET", routesV2+"/b", "", "")
	text := string(s.Send(200, "GET", "/metrics", "", "").Body)
	for _, line := range []string{
		`apiserver_crd_conversion_webhook_duration_seconds_count{crd_name="routes.example.com",from_version="v1",to_version="v2",succeeded="true"} 1`,
		`apiserver_crd_conversion_webhook_duration_seconds_count{crd_name="routes.example.com",from_version="v1",to_version="v2",succeeded="false"} 1`,
		`apiserver_conversion_webhook_request_total{result="success",failure_type=""} 1`,
		`apiserver_conversion_webhook_request_total{result="failure",failure_type="conversion_webhook_malformed_response_failure"} 1`,
		`apiserver_conversion_webhook_duration_seconds_count{result="success",failure_type=""} 1`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s is missing", line)
		}
	}
	s.Send(200, "DELETE", conversionDefinitions+"/routes.example.com", "", "")
	if text := string(s.Send(200, "GET", "/metrics", "", "").Body); strings.Contains(text, `crd_name="routes.example.com"`) {
		t.Error("the series of a definition that is gone are still there")
	}
}
