package policy

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// A realm is a daemon that knows its users by tokens that are their names, and users by name.
type authTestCluster struct {
	*client.Server
	t         *testing.T
	transport *http.Transport // presents no certificate
	dir       string
}

// A citizen is a user of a realm, with groups in commas.
type testUser struct{ name, groups string }

// newTestClusterAuth starts a daemon; change, if any, changes its settings, dir being for its files.
func newTestClusterAuth(t *testing.T, change func(c *daemon.Config, dir string), citizens ...testUser) *authTestCluster {
	t.Helper()
	r := &authTestCluster{t: t, dir: t.TempDir()}
	var tokens strings.Builder
	for _, c := range append(citizens, testUser{"root", "system:masters"}) {
		tokens.WriteString("token-of-" + c.name + "," + c.name + ",,\"" + c.groups + "\"\n")
	}
	file := filepath.Join(r.dir, "tokens.csv")
	if err := os.WriteFile(file, []byte(tokens.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Server = client.Serve(t, filepath.Join(r.dir, "data"), func(c *daemon.Config) {
		c.Authentication.TokenAuthFile = file
		if change != nil {
			change(c, r.dir)
		}
	})
	r.transport = client.Transport(t, r.Anonymous())
	return r
}

// do sends a request of a user, "" being nobody; headers are "name: value".
func (r *authTestCluster) do(user, method, path, body string, headers ...string) client.Answer {
	r.t.Helper()
	contentType := client.JSON
	if method == http.MethodPatch {
		contentType = client.MergePatch
	}
	return r.send(user, method, path, contentType, body, headers...)
}

// send is do with another content type.
func (r *authTestCluster) send(user, method, path, contentType, body string, headers ...string) client.Answer {
	r.t.Helper()
	headers = append([]string{"Content-Type: " + contentType}, headers...)
	if user != "" {
		headers = append([]string{"Authorization: Bearer token-of-" + user}, headers...)
	}
	return client.Exchange(r.t, r.transport, method, r.URL+path, body, headers...)
}

// must create an object as root.
func (r *authTestCluster) must(path, body string) {
	r.t.Helper()
	if a := r.do("root", "POST", path, body); a.Code != 201 {
		r.t.Fatalf("%s: %s", path, a)
	}
}

// expect asks, and wants a code and texts in the answer.
func (r *authTestCluster) expect(user, method, path, body string, code int, texts ...string) {
	r.t.Helper()
	r.want(user+" "+method+" "+path+" "+body, r.do(user, method, path, body), code, texts...)
}

func (r *authTestCluster) want(what string, a client.Answer, code int, texts ...string) {
	r.t.Helper()
	missing := func(text string) bool { return !strings.Contains(string(a.Body), text) }
	if i := slices.IndexFunc(texts, missing); a.Code != code || i >= 0 {
		r.t.Errorf("%s: got %s\nwant %d with %q", what, a, code, texts)
	}
}

const (
	rbacPath       = "/apis/rbac.authorization.platform.io/v1"
	reviewPath     = "/apis/authorization.platform.io/v1"
	selfReviewPath = "/apis/authentication.platform.io/v1/selfsubjectreviews"
)

// bind lets a user do what rules, which are JSON, allow in the whole cluster; soon.
func (r *authTestCluster) bind(name, user, rules string) {
	r.t.Helper()
	r.must(rbacPath+"/clusterroles", `{"metadata":{"name":"`+name+`"},"rules":[`+rules+`]}`)
	r.must(rbacPath+"/clusterrolebindings", `{"metadata":{"name":"`+name+`"},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"`+name+`"},
		"subjects":[{"kind":"User","apiGroup":"rbac.authorization.platform.io","name":"`+user+`"}]}`)
}

// grant is bind, and waits until it is so.
func (r *authTestCluster) grant(name, user, rules string) {
	r.t.Helper()
	r.bind(name, user, rules+`,{"nonResourceURLs":["/granted/`+name+`"],"verbs":["get"]}`)
	r.waitAllowed(`"user":"` + user + `","nonResourceAttributes":{"verb":"get","path":"/granted/` + name + `"}`)
}

// waitAllowed waits until what the spec of a review asks is allowed.
func (r *authTestCluster) waitAllowed(spec string) {
	r.t.Helper()
	client.Eventually(r.t, func() error {
		a := r.do("root", "POST", reviewPath+"/subjectaccessreviews", `{"spec":{`+spec+`}}`)
		if !strings.Contains(string(a.Body), `"allowed":true`) {
			return fmt.Errorf("%s: got %s", spec, a)
		}
		return nil
	})
}
