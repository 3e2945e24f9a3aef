package policy

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const rbacGroup = `"apiGroup":"rbac.authorization.platform.io"`

// bound returns a binding of role, such as "ClusterRole/admin", to a user.
func bound(name, role, user string) string {
	kind, role, _ := strings.Cut(role, "/")
	return `{"metadata":{"name":"` + name + `"},"roleRef":{` + rbacGroup + `,"kind":"` + kind + `","name":"` + role + `"},
		"subjects":[{"kind":"User",` + rbacGroup + `,"name":"` + user + `"}]}`
}

// TestDefaultRolesAreRepaired checks that a restart restores default roles that clients deleted or
// restricted.
func TestDefaultRolesAreRepaired(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := client.Serve(t, dir, nil)
	do := func(method, path, body string, code int) client.Answer {
		t.Helper()
		var content any
		if body != "" {
			content = []byte(body)
		}
		a, err := s.Do(t.Context(), method, rbacPath+path, client.MergePatch, content)
		if err != nil || a.Code != code {
			t.Fatalf("%s %s: %v %s", method, path, err, a)
		}
		return a
	}
	do("DELETE", "/clusterroles/system:discovery", "", 200)
	do("DELETE", "/clusterrolebindings/system:basic-user", "", 200)
	do("PATCH", "/clusterroles/system:basic-user", `{"rules":[]}`, 200)
	do("PATCH", "/clusterroles/system:auth-delegator", `{"rules":[],"metadata":{"annotations":{"rbac.authorization.platform.io/autoupdate":"false"}}}`, 200)
	version := do("GET", "/clusterroles/cluster-admin", "", 200).Object().Version()
	s.Stop(t)
	s = client.Serve(t, dir, nil)
	do("GET", "/clusterroles/system:discovery", "", 200)
	do("GET", "/clusterrolebindings/system:basic-user", "", 200)
	if a := do("GET", "/clusterroles/system:basic-user", "", 200); !strings.Contains(string(a.Body), "selfsubjectreviews") {
		t.Errorf("rules are not repaired: %s", a)
	}
	if a := do("GET", "/clusterroles/system:auth-delegator", "", 200); !strings.Contains(string(a.Body), `"rules":null`) {
		t.Errorf("a protected role is changed: %s", a)
	}
	if now := do("GET", "/clusterroles/cluster-admin", "", 200).Object().Version(); now != version {
		t.Errorf("what was as it should be is written anew: %d, then %d", version, now)
	}
}
