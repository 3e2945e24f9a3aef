package policy

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const (
	core     = "/api/v1/namespaces/default/"
	robot    = core + "serviceaccounts/robot"
	reviews  = "/apis/authentication.platform.io/v1/tokenreviews"
	ownToken = "https://platform.default.svc"
)

type tokenCluster struct{ *userCluster }

func newTokenCluster(t *testing.T, change func(c *daemon.Config, dir string)) tokenCluster {
	t.Helper()
	return tokenCluster{serveUsers(t, func(c *daemon.Config, dir string) {
		c.BootstrapTokens.Enabled = true
		c.Controllers = "*,tokencleaner,bootstrapsigner"
		if change != nil {
			change(c, dir)
		}
	})}
}

// reviewSelf sends a SelfSubjectReview with a token, which is invalid if the status code is 401.
func (r tokenCluster) reviewSelf(token string) client.Answer {
	r.t.Helper()
	return r.do("", "POST", selfReviewPath, "{}", "Authorization: Bearer "+token)
}

func (r tokenCluster) expectCode(label, token string, code int) {
	r.t.Helper()
	if a := r.reviewSelf(token); a.Code != code {
		r.t.Errorf("%s: %s, want %d", label, a, code)
	}
}

func (r tokenCluster) recreateAccount() {
	r.t.Helper()
	r.do("root", "DELETE", robot, "")
	r.must(core+"serviceaccounts", `{"metadata":{"name":"robot"}}`)
}

func (r tokenCluster) token(spec string) string {
	r.t.Helper()
	a := r.do("root", "POST", robot+"/token", `{"spec":`+spec+`}`)
	if a.Code != 201 {
		r.t.Fatalf("a token for %s: %s", spec, a)
	}
	return a.Object()["status"].(map[string]any)["token"].(string)
}

func (r tokenCluster) eventually(label, path string, right func(a client.Answer) bool) (a client.Answer) {
	r.t.Helper()
	client.Eventually(r.t, func() error {
		if a = r.do("root", "GET", path, ""); !right(a) {
			return fmt.Errorf("%s: still %s", label, a)
		}
		return nil
	})
	return a
}

func (r tokenCluster) eventuallyGone(path string) {
	r.t.Helper()
	r.eventually(path+" goes", path, func(a client.Answer) bool { return a.Code == 404 })
}

func decoded(o client.Object, key string) string {
	text, err := base64.StdEncoding.DecodeString(o.Data(key))
	if err != nil {
		return ""
	}
	return string(text)
}

const pod = `{"metadata":{"name":"p"},"spec":{"serviceAccountName":"robot","terminationGracePeriodSeconds":0,"containers":[{"name":"c","image":"i"}]}}`

// TestTokens checks that a token becomes invalid when its service account or bound object is
// deleted.
func TestTokens(t *testing.T) {
	t.Parallel()
	r := newTokenCluster(t, nil)
	r.recreateAccount()
	r.want("whose", r.reviewSelf(r.token(`{}`)), 201, `"username":"system:serviceaccount:default:robot"`,
		`"system:serviceaccounts","system:serviceaccounts:default","system:authenticated"`, `"authentication.platform.io/credential-id":["JTI=`)

	t.Run("account deleted", func(t *testing.T) {
		token := r.token(`{}`)
		r.expect("root", "DELETE", robot, "", 200)
		r.expectCode("without its account", token, 401)
		r.must(core+"serviceaccounts", `{"metadata":{"name":"robot"}}`)
		r.expectCode("with another account of that name", token, 401)
	})
	t.Run("Pod deleted", func(t *testing.T) {
		r.must(core+"pods", pod)
		token := r.token(`{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}`)
		r.want("bound to a Pod", r.reviewSelf(token), 201, `"authentication.platform.io/pod-name":["p"]`)
		if a := r.do("root", "DELETE", core+"pods/p", `{"gracePeriodSeconds":0}`); a.Code >= 300 {
			t.Fatal(a)
		}
		r.expectCode("without its Pod", token, 401)
		r.must(core+"pods", pod)
		r.expectCode("with another Pod of that name", token, 401)
	})
	t.Run("Secret deleted", func(t *testing.T) {
		r.must(core+"secrets", `{"metadata":{"name":"lock"}}`)
		token := r.token(`{"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"lock"}}`)
		r.expectCode("bound to a Secret", token, 201)
		r.expect("root", "DELETE", core+"secrets/lock", "", 200)
		r.expectCode("without its Secret", token, 401)
	})
	t.Run("node deleted", func(t *testing.T) {
		r.must("/api/v1/nodes", `{"metadata":{"name":"n"}}`)
		token := r.token(`{"boundObjectRef":{"kind":"Node","apiVersion":"v1","name":"n"}}`)
		r.want("bound to a node", r.reviewSelf(token), 201, `"authentication.platform.io/node-name":["n"]`)
		r.expect("root", "DELETE", "/api/v1/nodes/n", "", 200)
		r.expectCode("without its node", token, 401)
	})
	t.Run("other audiences", func(t *testing.T) { r.expectCode("for others", r.token(`{"audiences":["vault"]}`), 401) })
	t.Run("requests", func(t *testing.T) { requestsAuth(t, r) })
	t.Run("reviews", func(t *testing.T) { reviewTokens(t, r) })
	t.Run("key set", func(t *testing.T) { keySet(t, r) })
	t.Run("secrets", func(t *testing.T) { secrets(t, r) })
	t.Run("bootstrap", func(t *testing.T) { bootstrapAuth(t, r) })
	t.Run("default accounts", func(t *testing.T) {
		r.must("/api/v1/namespaces", `{"metadata":{"name":"fresh"}}`)
		const path = "/api/v1/namespaces/fresh/serviceaccounts/default"
		first := r.eventually("made", path, func(a client.Answer) bool { return a.Code == 200 })
		r.expect("root", "DELETE", path, "", 200)
		r.eventually("made again", path, func(a client.Answer) bool {
			return a.Code == 200 && a.Object().UID() != first.Object().UID()
		})
		r.expect("root", "DELETE", "/api/v1/namespaces/fresh", "", 200)
		r.eventuallyGone("/api/v1/namespaces/fresh")
	})
}

// requestsAuth checks the errors for invalid token requests.
func requestsAuth(t *testing.T, r tokenCluster) {
	r.must(core+"serviceaccounts", `{"metadata":{"name":"other"}}`)
	ref := func(kind, version, name, uid string) string {
		return fmt.Sprintf(`{"spec":{"boundObjectRef":{"kind":%q,"apiVersion":%q,"name":%q,"uid":%q}}}`, kind, version, name, uid)
	}
	for _, c := range []struct {
		path, body string
		code       int
		text       string
	}{
		{robot, `{"spec":{"expirationSeconds":599}}`, 422, `TokenRequest.authentication.platform.io \"\" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes`},
		{robot, `{"spec":{"expirationSeconds":4294967297}}`, 422, `may not specify a duration larger than 2^32 seconds`},
		{core + "serviceaccounts/nobody", `{}`, 404, `serviceaccounts \"nobody\" not found`},
		{robot, `{"metadata":{"name":"x"}}`, 422, `TokenRequest.authentication.platform.io \"robot\" is invalid: metadata.name: Invalid value: \"x\": must match the service account name if specified`},
		{robot, `{"metadata":{"uid":"x"}}`, 409, `Operation cannot be fulfilled on TokenRequest.authentication.platform.io \"robot\": the UID in the token request (x) does not match the UID of the service account (`},
		{robot, ref("Pod", "v1", "gone", ""), 404, `pods \"gone\" not found`},
		{robot, ref("Secret", "v1", "gone", ""), 404, `secrets \"gone\" not found`},
		{robot, ref("Node", "v1", "gone", ""), 404, `nodes \"gone\" not found`},
		{robot, ref("ConfigMap", "v1", "x", ""), 400, `cannot bind token to object of type /v1, Kind=ConfigMap`},
		{robot, ref("Pod", "apps/v1", "x", ""), 400, `cannot bind token to object of type apps/v1, Kind=Pod`},
		{robot, `{"spec":{"audiences":["a"],"attestations":{"admissionReviewAPIGroups":["*"]},"boundObjectRef":{"kind":"MutatingWebhookConfiguration","apiVersion":"admissionregistration.platform.io/v1","name":"x"}}}`, 400,
			`cannot bind token to object of type admissionregistration.platform.io/v1, Kind=MutatingWebhookConfiguration (feature gate APIServerWebhookAuthenticationToken is disabled)`},
		{robot, ref("Pod", "v1", "p", "x"), 409, `Operation cannot be fulfilled on Pod \"p\": the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated`},
		{core + "serviceaccounts/other", ref("Pod", "v1", "p", ""), 400, `cannot bind token for serviceaccount \"other\" to pod running with different serviceaccount name.`},
		{robot, `{"spec":{}}`, 201, `"expirationSeconds":3600`},
		{robot, `{"spec":{}}`, 201, `"audiences":["` + ownToken + `"]`},
	} {
		r.expect("root", "POST", c.path+"/token", c.body, c.code, c.text)
	}
	r.expect("root", "GET", robot+"/token", "", 405)
	r.expect("", "POST", robot+"/token", "{}", 403)
}

func claimsOf(t *testing.T, token string) (c map[string]any) {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	client.Decode(t, text, &c)
	return c
}

func reviewTokens(t *testing.T, r tokenCluster) {
	own, vault := r.token(`{}`), r.token(`{"audiences":["vault","x"]}`)
	for name, c := range map[string]struct {
		token, audiences, want string
		not                    string
	}{
		"own":                 {own, `[]`, `"username":"system:serviceaccount:default:robot"`, `"error"`},
		"own, asked":          {own, `["` + ownToken + `","y"]`, `"audiences":["` + ownToken + `"],"authenticated":true`, `"y"]},`},
		"own, another asked":  {own, `["vault"]`, `"error":"invalid bearer token"`, `robot`},
		"others'":             {vault, `[]`, `"error":"invalid bearer token"`, `robot`},
		"others', asked":      {vault, `["vault","y"]`, `"authenticated":true`, `"error"`},
		"others', own asked":  {vault, `["` + ownToken + `"]`, `"error":"invalid bearer token"`, `robot`},
		"static":              {"token-of-root", `["` + ownToken + `"]`, `"authenticated":true`, `"error"`},
		"static, not for own": {"token-of-root", `["vault"]`, `"error":"invalid bearer token"`, `root"`},
	} {
		a := r.do("root", "POST", reviews, `{"spec":{"token":"`+c.token+`","audiences":`+c.audiences+`}}`)
		status, err := json.Marshal(map[string]any{"status": a.Object()["status"]})
		if err != nil || a.Code != 201 || !strings.Contains(string(status), c.want) || strings.Contains(string(status), c.not) {
			t.Errorf("%s: %d %s, want %s and not %s", name, a.Code, status, c.want, c.not)
		}
	}
}

const tokenSecret = `{"metadata":{"name":"%s","annotations":{"platform.io/service-account.name":"%s"}},"type":"platform.io/service-account-token"}`

// secrets checks that service account token Secrets are filled, repaired, revoked, and deleted with
// their service account.
func secrets(t *testing.T, r tokenCluster) {
	filled := func(a client.Answer) bool { return a.Code == 200 && decoded(a.Object(), "token") != "" }
	r.must(core+"secrets", fmt.Sprintf(tokenSecret, "held", "robot"))
	secret := r.eventually("filled", core+"secrets/held", filled).Object()
	token := decoded(secret, "token")
	if decoded(secret, "namespace") != "default" || !strings.Contains(decoded(secret, "ca.crt"), "BEGIN CERTIFICATE") {
		t.Errorf("the secret holds %v", secret)
	}
	r.want("legacy", r.reviewSelf(token), 201, `"username":"system:serviceaccount:default:robot"`)
	r.eventually("its use is noted", core+"secrets/held", func(a client.Answer) bool {
		return strings.Contains(string(a.Body), `"platform.io/legacy-token-last-used":"2`)
	})
	r.expect("root", "PATCH", core+"secrets/held", `{"metadata":{"labels":{"platform.io/legacy-token-invalid-since":"2001-02-03"}}}`, 200)
	r.expectCode("marked as invalid", token, 401)
	r.expect("root", "PATCH", core+"secrets/held", `{"metadata":{"labels":{"platform.io/legacy-token-invalid-since":null}}}`, 200)
	r.expectCode("valid again", token, 201)
	r.expect("root", "PATCH", core+"secrets/held", `{"data":{"token":null}}`, 200)
	r.expectCode("a token that is not in the secret", token, 401)
	token = decoded(r.eventually("repaired", core+"secrets/held", filled).Object(), "token")
	r.expectCode("repaired", token, 201)

	r.expect("root", "PATCH", robot, `{"secrets":[{"name":"held"},{"name":"kept"}]}`, 200)
	r.expect("root", "DELETE", core+"secrets/held", "", 200)
	r.expectCode("without its secret", token, 401)
	r.eventually("no longer named", robot, func(a client.Answer) bool {
		return !strings.Contains(string(a.Body), `{"name":"held"}`) && strings.Contains(string(a.Body), `{"name":"kept"}`)
	})

	r.must(core+"serviceaccounts", `{"metadata":{"name":"brief"}}`)
	r.must(core+"secrets", fmt.Sprintf(tokenSecret, "brief", "brief"))
	token = decoded(r.eventually("filled", core+"secrets/brief", filled).Object(), "token")
	r.expect("root", "DELETE", core+"serviceaccounts/brief", "", 200)
	r.expectCode("without its account", token, 401)
	r.eventuallyGone(core + "secrets/brief")
	r.must(core+"secrets", fmt.Sprintf(tokenSecret, "stray", "nobody"))
	r.eventuallyGone(core + "secrets/stray")
}
