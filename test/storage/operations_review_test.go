package storage

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// serveOperations starts a daemon that knows two tokens: root, of a master, and jane.
func serveOperations(t *testing.T) *client.Server {
	t.Helper()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens.csv")
	client.WriteFile(t, tokens, "root-token,root,0,\"system:masters\"\njane-token,jane,u1,\"dev,ops\"\n")
	return client.Serve(t, filepath.Join(dir, "data"), func(c *daemon.Config) { c.Authentication.TokenAuthFile = tokens })
}

const (
	authentication = "/apis/authentication.platform.io/v1"
	authorization  = "/apis/authorization.platform.io/v1"
)

func TestReviews(t *testing.T) {
	t.Parallel()
	s := serveOperations(t)
	sar, tr := authorization+"/subjectaccessreviews", authentication+"/tokenreviews"
	local := authorization + "/namespaces/default/localsubjectaccessreviews"
	self := authorization + "/selfsubjectaccessreviews"
	for _, c := range []struct {
		name, path, body string
		code             int
		contains         []string
	}{
		{"known token", tr, `{"spec":{"token":"jane-token"}}`, 201, []string{`"authenticated":true`, `"user":{"username":"jane","uid":"u1","groups":["dev","ops","system:authenticated"]}`, `"spec":{"token":"jane-token"}`}},
		{"unknown token", tr, `{"spec":{"token":"nope"}}`, 201, []string{`"status":{"user":{},"error":"invalid bearer token"}`}},
		{"no token", tr, `{"spec":{}}`, 400, []string{"token is required for TokenReview in authentication"}},
		{"own audience", tr, `{"spec":{"token":"jane-token","audiences":["a","https://platform.default.svc"]}}`, 201, []string{`"authenticated":true`, `"audiences":["https://platform.default.svc"]`}},
		{"other audience", tr, `{"spec":{"token":"jane-token","audiences":["a"]}}`, 201, []string{`"status":{"user":{},"error":"invalid bearer token"}`}},
		{"who am I", authentication + "/selfsubjectreviews", `{}`, 201, []string{`"creationTimestamp":"2`, `"kind":"SelfSubjectReview"`, `"system:masters"`, `"userInfo":{"username":`}},
		{"master", sar, `{"spec":{"user":"x","groups":["system:masters"],"resourceAttributes":{"verb":"delete","resource":"secrets"}}}`, 201, []string{`"status":{"allowed":true}`}},
		{"nobody", sar, `{"spec":{"user":"x","resourceAttributes":{"verb":"get","resource":"pods"}}}`, 201, []string{`"status":{"allowed":false}`}},
		{"public path", sar, `{"spec":{"user":"x","nonResourceAttributes":{"verb":"get","path":"/livez"}}}`, 201, []string{`"status":{"allowed":true}`}},
		{"no user", sar, `{"spec":{"resourceAttributes":{"verb":"get"}}}`, 422, []string{`spec.user: Invalid value: \"\": at least one of user or group must be specified`, `"kind":"SubjectAccessReview"`}},
		{"client's status", sar, `{"spec":{"user":"x","resourceAttributes":{"verb":"get"}},"status":{"allowed":true}}`, 201, []string{`"status":{"allowed":false}`}},
		{"self", self, `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`, 201, []string{`"status":{"allowed":true}`}},
		{"self asks nothing", self, `{"spec":{}}`, 422, []string{"exactly one of nonResourceAttributes or resourceAttributes"}},
		{"local", local, `{"spec":{"user":"x","resourceAttributes":{"namespace":"default","verb":"get","resource":"pods"}}}`, 201, []string{`"status":{"allowed":false}`}},
		{"local elsewhere", local, `{"spec":{"user":"x","resourceAttributes":{"namespace":"other","verb":"get","resource":"pods"}}}`, 422, []string{"must match metadata.namespace"}},
		{"rules", authorization + "/selfsubjectrulesreviews", `{"spec":{"namespace":"default"}}`, 201, []string{`"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]},`, `"incomplete":false`}},
		{"rules of nowhere", authorization + "/selfsubjectrulesreviews", `{"spec":{}}`, 400, []string{"no namespace on request"}},
	} {
		a := must.Get(s.Create(t.Context(), c.path, []byte(c.body)))(t)
		if a.Code != c.code {
			t.Errorf("%s: got %s", c.name, a)
		}
		for _, want := range c.contains {
			if !strings.Contains(string(a.Body), want) {
				t.Errorf("%s: got %s\nwant %s in it", c.name, a, want)
			}
		}
	}
	// Nothing of all that can be read.
	for _, path := range []string{sar, tr, self} {
		wantCode(t, 405)(s.Get(t.Context(), path))
	}
}

// TestReviewsAsOthers asks with tokens: the review is about who asks.
func TestReviewsAsOthers(t *testing.T) {
	t.Parallel()
	s := serveOperations(t)
	transport := client.Transport(t, s.Anonymous())
	ask := func(token, path, body string) string {
		t.Helper()
		a := client.Exchange(t, transport, http.MethodPost, s.URL+path, body, "Content-Type: "+client.JSON, "Authorization: Bearer "+token)
		return string(a.Body)
	}
	if got := ask("root-token", authentication+"/selfsubjectreviews", `{}`); !strings.Contains(got, `"userInfo":{"username":"root","uid":"0","groups":["system:masters","system:authenticated"]}`) {
		t.Error(got)
	}
	if got := ask("root-token", authorization+"/selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`); !strings.Contains(got, `"allowed":true`) {
		t.Error(got)
	}
	// Who may not create reviews may not learn by them either.
	if got := ask("jane-token", authorization+"/subjectaccessreviews", `{"spec":{"user":"root","resourceAttributes":{"verb":"get"}}}`); !strings.Contains(got, `"reason":"Forbidden"`) {
		t.Error(got)
	}
}
