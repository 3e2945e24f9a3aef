package policy

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/transcript"
)

// A userCluster is a daemon with users that authenticate with tokens. Tests write requests and
// expected responses in the platform naming profile.
type userCluster struct {
	*client.Server
	t         *testing.T
	transport *http.Transport // without a client certificate
	dir       string
	profile   string
	log       *client.Log
	tokens    map[string]string // tokens by user
}

// serveUsers starts a daemon with the administrator root and the given users, in the format of
// createUsers. change may be nil, and may write files to dir.
func serveUsers(t *testing.T, change func(c *daemon.Config, dir string), users ...string) *userCluster {
	t.Helper()
	r := &userCluster{t: t, dir: t.TempDir(), log: &client.Log{}, tokens: map[string]string{}}
	users = append(users, "root=system:masters")
	for _, u := range users {
		name, _, _ := strings.Cut(u, "=")
		r.tokens[name] = credential(name)
	}
	config := daemon.Default()
	config.DataDir, config.Serving.SecurePort, config.Controllers = filepath.Join(r.dir, "data"), 0, client.WithoutRoots
	createUsers(t, users...)(&config)
	if change != nil {
		change(&config, r.dir)
	}
	r.profile = config.Naming
	r.Server = client.ServeConfig(t, config, io.MultiWriter(t.Output(), r.log))
	r.transport = client.Transport(t, r.Anonymous())
	return r
}

func serveUsersInProfiles(t *testing.T, change func(*daemon.Config), users []string, test func(*userCluster)) {
	client.InProfiles(t, func(t *testing.T, profile string) {
		test(serveUsers(t, func(c *daemon.Config, _ string) {
			c.Naming = profile
			if change != nil {
				change(c)
			}
		}, users...))
	})
}

func (r *userCluster) replay(name string) {
	r.t.Helper()
	if *transcript.Update && r.profile != client.Profiles[0] {
		return // recorded with the names of the first profile
	}
	transcript.Run(r.t, r.Client, "testdata/"+name+".txt", transcript.Options{Profile: r.profile, Tokens: r.tokens})
}

func (r *userCluster) named(text string) string { return client.Named(r.profile, text) }

// do sends a request as user, or without credentials if user is "". Each of headers has the form
// "name: value".
func (r *userCluster) do(user, method, path, body string, headers ...string) client.Answer {
	r.t.Helper()
	contentType := client.JSON
	if method == http.MethodPatch {
		contentType = client.MergePatch
	}
	return r.send(user, method, path, contentType, body, headers...)
}

func (r *userCluster) send(user, method, path, contentType, body string, headers ...string) client.Answer {
	r.t.Helper()
	headers = append([]string{"Content-Type: " + contentType}, headers...)
	if user != "" {
		headers = append([]string{"Authorization: Bearer " + credential(user)}, headers...)
	}
	return client.Exchange(r.t, r.transport, method, r.URL+r.named(path), r.named(body), headers...)
}

func (r *userCluster) must(path, body string) client.Object {
	r.t.Helper()
	a := r.do("root", "POST", path, body)
	if a.Code != 201 {
		r.t.Fatalf("%s: %s", path, a)
	}
	return a.Object()
}

// expect sends a request and checks the status code. The response must contain each of texts.
func (r *userCluster) expect(user, method, path, body string, code int, texts ...string) client.Answer {
	r.t.Helper()
	a := r.do(user, method, path, body)
	r.want(user+" "+method+" "+path+" "+body, a, code, texts...)
	return a
}

func (r *userCluster) want(label string, a client.Answer, code int, texts ...string) {
	r.t.Helper()
	missing := func(text string) bool {
		text = r.named(text)
		return !strings.Contains(string(a.Body), text) && !strings.Contains(string(a.Body), strings.ReplaceAll(text, `"`, `\"`))
	}
	if i := slices.IndexFunc(texts, missing); a.Code != code || i >= 0 {
		r.t.Errorf("%s: got %s\nwant %d with %q", label, a, code, texts)
	}
}

const (
	rbacPath       = "/apis/rbac.authorization.platform.io/v1"
	reviewPath     = "/apis/authorization.platform.io/v1"
	selfReviewPath = "/apis/authentication.platform.io/v1/selfsubjectreviews"
)

// bind grants cluster-wide RBAC rules in JSON to a user. The rules take effect with a delay.
func (r *userCluster) bind(name, user, rules string) {
	r.t.Helper()
	r.must(rbacPath+"/clusterroles", `{"metadata":{"name":"`+name+`"},"rules":[`+rules+`]}`)
	r.must(rbacPath+"/clusterrolebindings", `{"metadata":{"name":"`+name+`"},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"`+name+`"},
		"subjects":[{"kind":"User","apiGroup":"rbac.authorization.platform.io","name":"`+user+`"}]}`)
}

func (r *userCluster) grant(name, user, rules string) {
	r.t.Helper()
	r.bind(name, user, rules+`,{"nonResourceURLs":["/granted/`+name+`"],"verbs":["get"]}`)
	r.waitAllowed(`"user":"` + user + `","nonResourceAttributes":{"verb":"get","path":"/granted/` + name + `"}`)
}

func (r *userCluster) waitAllowed(spec string) {
	r.t.Helper()
	client.Eventually(r.t, func() error {
		a := r.do("root", "POST", reviewPath+"/subjectaccessreviews", `{"spec":{`+spec+`}}`)
		if !strings.Contains(string(a.Body), `"allowed":true`) {
			return fmt.Errorf("%s: got %s", spec, a)
		}
		return nil
	})
}

// createUsers returns an option that configures users, each in the form "name" or
// "name=group,group". credential returns their tokens.
func createUsers(t *testing.T, users ...string) func(*daemon.Config) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "people.csv")
	var lines strings.Builder
	for _, u := range users {
		name, groups := u, ""
		if at := strings.LastIndexByte(u, '='); at > 0 {
			name, groups = u[:at], u[at+1:]
		}
		lines.WriteString(credential(name) + "," + name + ",,\"" + groups + "\"\n")
	}
	client.WriteFile(t, path, lines.String())
	return func(c *daemon.Config) { c.Authentication.TokenAuthFile = path }
}

func credential(user string) string { return "token-of-" + user }
