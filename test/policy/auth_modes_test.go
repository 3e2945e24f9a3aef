package policy

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

func TestFaultsOfModes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*daemon.Authorization)
		want   string
	}{
		{func(a *daemon.Authorization) { a.Modes = nil }, "authorization-mode: must not be empty"},
		{func(a *daemon.Authorization) { a.Modes = []string{"rbac"} }, `authorization-mode: "rbac" is none of Node, ABAC, RBAC, Webhook, AlwaysAllow, AlwaysDeny`},
		{func(a *daemon.Authorization) { a.Modes = []string{"RBAC", "Node", "RBAC"} }, `authorization-mode: "RBAC" is there twice`},
		{func(a *daemon.Authorization) { a.Modes = []string{"ABAC"} }, "authorization-policy-file: requires the mode ABAC"},
		{func(a *daemon.Authorization) { a.PolicyFile = "x" }, "authorization-policy-file: requires the mode ABAC"},
		{func(a *daemon.Authorization) { a.Modes = []string{"Webhook"} }, "authorization-webhook-config-file: requires the mode Webhook"},
		{func(a *daemon.Authorization) { a.Webhook.ConfigFile = "x" }, "authorization-webhook-config-file: requires the mode Webhook"},
		{func(a *daemon.Authorization) { a.Webhook.Version = "v2" }, `authorization-webhook-version: "v2" is none of v1, v1beta1`},
		{func(a *daemon.Authorization) { a.AlwaysAllowPaths = []string{"x"} }, `authorization-always-allow-paths: "x" does not begin with /`},
		{func(a *daemon.Authorization) { a.Webhook.CacheUnauthorizedTTL = -1 }, "authorization-webhook-cache-unauthorized-ttl: -1ns is less than 0"},
	} {
		config := daemon.Default()
		config.DataDir = filepath.Join(t.TempDir(), "data")
		c.change(&config.Authorization)
		if _, err := daemon.New(config, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// TestRolesAreTheDefault: without a role nothing but the public paths is open.
func TestRolesAreTheDefault(t *testing.T) {
	t.Parallel()
	r := serveUsers(t, nil, "jane=devs")
	for _, user := range []string{"", "jane"} {
		for _, path := range []string{"/livez", "/readyz", "/healthz/ping", "/version"} {
			r.expect(user, "GET", path, "", 200)
		}
		for _, path := range []string{"/metrics", "/api/v1/nodes", "/debug/pprof/"} {
			r.expect(user, "GET", path, "", 403)
		}
	}
	r.expect("", "GET", "/api", "", 403, `"message":"forbidden: User \"system:anonymous\" cannot get path \"/api\""`, `"details":{}`, `"reason":"Forbidden"`)
	r.expect("jane", "GET", "/api", "", 200)
	r.expect("jane", "GET", "/apis/apps/v1/namespaces/default/deployments/x", "", 403,
		`deployments.apps \"x\" is forbidden: User \"jane\" cannot get resource \"deployments\" in API group \"apps\" in the namespace \"default\""`,
		`"details":{"name":"x","group":"apps","kind":"deployments"}`)
	r.expect("jane", "DELETE", "/api/v1/namespaces/default/pods?fieldSelector=metadata.name=a", "", 403, `pods is forbidden: User \"jane\" cannot deletecollection`)
	r.grant("pods", "jane", `{"apiGroups":[""],"resources":["pods"],"verbs":["list"]}`)
	r.expect("jane", "GET", "/api/v1/pods", "", 200)
	r.expect("jane", "GET", "/api/v1/pods?watch=1&timeoutSeconds=1", "", 403)
	r.expect("root", "GET", "/metrics", "", 200)
}

// TestAlwaysAllow: everybody who is let in may do everything.
func TestAlwaysAllow(t *testing.T) {
	t.Parallel()
	r := serveUsers(t, func(c *daemon.Config, _ string) { c.Authorization.Modes = []string{"AlwaysAllow"} }, "jane")
	r.expect("jane", "GET", "/api/v1/secrets", "", 200)
	r.expect("jane", "GET", "/metrics", "", 200)
	r.want("impersonation", r.do("jane", "POST", selfReviewPath, "{}", "Impersonate-User: admin"), 201, `"username":"admin"`)
	r.expect("jane", "POST", reviewPath+"/selfsubjectrulesreviews", `{"spec":{"namespace":"default"}}`, 201,
		`"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]`, `"incomplete":false`)
}
