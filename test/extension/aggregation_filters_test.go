package extension

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// aggregationAuditPolicy audits only requests for the backend's API group.
const aggregationAuditPolicy = `{apiVersion: audit.platform.io/v1, kind: Policy, omitStages: [RequestReceived], rules: [
	{level: Metadata, resources: [{group: ext.example.com}]}, {level: None}]}`

// TestFiltersComeFirst checks that unauthenticated and unauthorized requests do not reach the
// backend, even with forged identity headers. All requests are audited. Forwarded requests are
// audited with the backend's status code.
func TestFiltersComeFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	policy, log := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "audit.log")
	client.WriteFile(t, policy, aggregationAuditPolicy)
	b := startBackend(t, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/teapot") {
			w.WriteHeader(http.StatusTeapot)
			return true
		}
		return false
	})
	s := openAggregation(t, b.address(), func(c *daemon.Config) {
		c.Audit.PolicyFile, c.Audit.Log.Path, c.Audit.Log.Mode = policy, log, "blocking"
	})
	s.register(b, "ext.example.com", "v1")
	const things = "/apis/ext.example.com/v1/namespaces/n/things/"
	admin, anonymous := s.TLS, s.TLS.Clone()
	anonymous.Certificates = nil
	for _, c := range []struct {
		user    *tls.Config
		name    string
		headers []string
		code    int
	}{
		{anonymous, "anonymous", nil, 403},
		{anonymous, "claims", []string{"X-Remote-User", "platform-admin", "X-Remote-Group", "system:masters"}, 403},
		{anonymous, "token", []string{"Authorization", "Bearer none"}, 401},
		{admin, "impersonated", []string{"Impersonate-User", "jane"}, 403},
		{admin, "teapot", nil, 418},
		{admin, "hop", []string{"Connection", "X-Remote-User, X-Remote-Group, Audit-Id"}, 200},
	} {
		s.TLS = c.user
		if resp := s.request("GET", things+c.name, c.headers...); resp.StatusCode != c.code {
			t.Errorf("%s: %d, want %d", c.name, resp.StatusCode, c.code)
		}
		if r := b.last(things + c.name); (r != nil) != (c.code == 418 || c.code == 200) {
			t.Errorf("%s: the server has seen %v", c.name, r)
		} else if r != nil && (r.Header.Get("X-Remote-User") != "platform-admin" || r.Header.Get("Audit-Id") == "") {
			t.Errorf("%s: the server got headers %v", c.name, r.Header)
		}
	}
	s.Stop(t)
	text := client.ReadFile(t, log)
	var got []string
	for line := range strings.Lines(string(text)) {
		var e struct {
			Stage, Verb, RequestURI string
			User                    struct{ Username string }
			ImpersonatedUser        struct{ Username string }
			ResponseStatus          struct{ Code int }
		}
		client.Decode(t, line, &e)
		if name, ok := strings.CutPrefix(e.RequestURI, things); ok && (e.Stage == "ResponseComplete" || e.ResponseStatus.Code == http.StatusUnauthorized) { // a failed authentication has only this stage
			got = append(got, fmt.Sprintf("%s %s %s%s %d", name, e.Verb, e.User.Username, e.ImpersonatedUser.Username, e.ResponseStatus.Code))
		}
	}
	slices.Sort(got)
	want := []string{
		"anonymous get system:anonymous 403", "claims get system:anonymous 403", "hop get platform-admin 200", "impersonated get platform-adminjane 403",
		"teapot get platform-admin 418", "token get  401",
	}
	if !slices.Equal(got, want) {
		t.Errorf("audited are\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
