package authn_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
)

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTokenReview(t *testing.T) {
	tokens, err := authn.ReadTokenFile(strings.NewReader("jane-token,jane,u1,\"dev\"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := authn.Reviewer{Authenticator: authn.Authenticated(authn.Anonymous(tokens)), Audiences: []string{"here"}}
	const jane = `"user":{"groups":["dev","system:authenticated"],"uid":"u1","username":"jane"}`
	for _, c := range []struct {
		spec tree.Tree
		want string
	}{
		{tree.Tree{"token": "jane-token"}, `{"authenticated":true,` + jane + `}`},
		{tree.Tree{"token": "jane-token", "audiences": []any{"there", "here"}}, `{"audiences":["here"],"authenticated":true,` + jane + `}`},
		{tree.Tree{"token": "jane-token", "audiences": []any{"there"}}, `{"error":"invalid bearer token"}`},
		{tree.Tree{"token": "nope"}, `{"error":"invalid bearer token"}`},
	} {
		review, err := r.Token(tree.Tree{"spec": c.spec, "status": tree.Tree{"authenticated": true}})
		if err != nil {
			t.Fatal(err)
		}
		if got := toJSON(t, review["status"]); got != c.want {
			t.Errorf("%v: got %s, want %s", c.spec, got, c.want)
		}
	}
	if _, err := r.Token(tree.Tree{}); err == nil || err.Error() != "token is required for TokenReview in authentication" {
		t.Errorf("no token: %v", err)
	}
}

func TestSelfReview(t *testing.T) {
	user := &authn.User{Name: "jane", Extra: map[string][]string{"dept/x": {"eng"}}}
	got := toJSON(t, authn.SelfReview(tree.Tree{"status": "mine"}, user, "2026-01-01T00:00:00Z"))
	if want := `{"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"},"status":{"userInfo":{"extra":{"dept/x":["eng"]},"username":"jane"}}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
