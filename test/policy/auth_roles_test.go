package policy

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const (
	rbacGroup = `"apiGroup":"rbac.authorization.platform.io"`
	grantText = `is attempting to grant RBAC permissions not currently held:\n`
)

// bound is a binding of a role, as "ClusterRole/name", to a user.
func bound(name, role, user string) string {
	kind, role, _ := strings.Cut(role, "/")
	return `{"metadata":{"name":"` + name + `"},"roleRef":{` + rbacGroup + `,"kind":"` + kind + `","name":"` + role + `"},
		"subjects":[{"kind":"User",` + rbacGroup + `,"name":"` + user + `"}]}`
}

// ruled is a role with one rule.
func ruled(name, verbs, resources string) string {
	return `{"metadata":{"name":"` + name + `"},"rules":[{"apiGroups":["","rbac.authorization.platform.io"],"resources":[` + resources + `],"verbs":[` + verbs + `]}]}`
}

// expectEventually asks until the code is as wanted.
func (r *userCluster) expectEventually(user, method, path, body string, code int, texts ...string) {
	r.t.Helper()
	var a client.Answer
	client.Eventually(r.t, func() error {
		if a = r.do(user, method, path, body); a.Code != code {
			return fmt.Errorf("%s %s %s: %s", user, method, path, a)
		}
		return nil
	})
	r.want("at last "+user+" "+method+" "+path, a, code, texts...)
}

// TestRolesTakeEffect follows a right from its grant to its end.
func TestRolesTakeEffect(t *testing.T) {
	t.Parallel()
	r := serveUsers(t, nil, "jane=devs")
	const space = "/namespaces/default"
	maps, roles, bindings := "/api/v1"+space+"/configmaps", rbacPath+space+"/roles", rbacPath+space+"/rolebindings"
	r.expect("jane", "GET", maps, "", 403)
	r.must(bindings, bound("reading", "Role/reading", "jane"))
	r.expectEventually("jane", "GET", maps, "", 403) // at first without the reason
	client.Eventually(t, func() error {
		a := r.do("jane", "GET", maps, "")
		if !strings.Contains(string(a.Body), `in the namespace \"default\": RBAC: role.rbac.authorization.platform.io \"reading\" not found`) {
			return fmt.Errorf("the reason is not told: %s", a)
		}
		return nil
	})
	r.must(roles, ruled("reading", `"list"`, `"configmaps"`))
	r.expectEventually("jane", "GET", maps, "", 200)
	r.expect("jane", "GET", "/api/v1/namespaces/platform-system/configmaps", "", 403)
	r.expect("jane", "GET", "/api/v1/configmaps", "", 403)
	r.expect("root", "PUT", roles+"/reading", ruled("reading", `"get"`, `"configmaps"`), 200)
	r.expectEventually("jane", "GET", maps, "", 403)
	r.expect("root", "PUT", roles+"/reading", ruled("reading", `"list"`, `"configmaps"`), 200)
	r.expectEventually("jane", "GET", maps, "", 200)
	r.expect("root", "DELETE", bindings+"/reading", "", 200)
	r.expectEventually("jane", "GET", maps, "", 403)
	r.must(bindings, strings.Replace(bound("reading", "ClusterRole/view", "devs"), "User", "Group", 1))
	r.expectEventually("jane", "GET", maps, "", 200)
	r.must(rbacPath+"/clusterroles", `{"metadata":{"name":"more","labels":{"rbac.authorization.platform.io/aggregate-to-view":"true"}},
		"rules":[{"apiGroups":[""],"resources":["secrets"],"verbs":["list"]}]}`)
	r.expectEventually("jane", "GET", "/api/v1"+space+"/secrets", "", 200) // view gathers it
	r.expect("root", "DELETE", rbacPath+"/clusterroles/more", "", 200)
	r.expectEventually("jane", "GET", "/api/v1"+space+"/secrets", "", 403)
}

// TestAuthEscalation: in which words a role or a binding above one's own rights is refused, and what
// allows it. Package security tries every way to write one.
func TestAuthEscalation(t *testing.T) {
	t.Parallel()
	r := serveUsers(t, nil, "jane=devs", "cleo")
	roles, bindings := rbacPath+"/clusterroles", rbacPath+"/clusterrolebindings"
	r.grant("clerk", "jane", `{"apiGroups":["rbac.authorization.platform.io"],"resources":["*"],"verbs":["get","list","create","update","patch","delete"]},
		{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}`)
	own := `{"metadata":{"name":"mild"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}]}`
	r.must(roles, own)
	r.must(roles, ruled("strong", `"get"`, `"secrets"`))
	r.expectEventually("jane", "GET", roles+"/mild", "", 200)
	secrets := `{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}`
	message := `clusterroles.rbac.authorization.platform.io \"x\" is forbidden: user \"jane\" (groups=[\"devs\" \"system:authenticated\"]) ` + grantText +
		`{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}"`
	full := `{"metadata":{"name":"x"},"rules":[` + secrets + `]}`
	r.expect("jane", "POST", roles, full, 403, message, `"reason":"Forbidden","details":{"name":"x","group":"rbac.authorization.platform.io","kind":"clusterroles"}`)
	r.expect("jane", "PUT", roles+"/x", full, 403, message) // which would create it
	r.expect("jane", "POST", roles+"?dryRun=All", full, 403, message)
	r.expect("jane", "PUT", roles+"/mild", strings.Replace(full, `"x"`, `"mild"`, 1), 403, grantText)
	apply := `{"apiVersion":"rbac.authorization.platform.io/v1","kind":"ClusterRole",` + full[1:]
	r.want("apply", r.send("jane", http.MethodPatch, roles+"/x?fieldManager=jane", "application/apply-patch+yaml", apply), 403, message)

	// what is above one's rights may not even get another label, and no role may gather others
	r.expect("jane", "PATCH", roles+"/strong", `{"metadata":{"labels":{"rbac.authorization.platform.io/aggregate-to-view":"true"}}}`, 403, grantText)
	r.expect("jane", "PATCH", roles+"/mild", `{"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}}`, 403, "must have cluster-admin privileges to use the aggregationRule")
	r.expect("jane", "PATCH", roles+"/view", `{"aggregationRule":null}`, 403)
	r.expect("jane", "PATCH", roles+"/strong", `{"metadata":{"finalizers":["example.com/x"]}}`, 200)
	r.expect("jane", "PATCH", roles+"/strong", `{"metadata":{"finalizers":null}}`, 200)
	r.expect("jane", "PATCH", roles+"/mild", `{"metadata":{"labels":{"a":"b"}}}`, 200)
	r.expect("jane", "POST", roles, strings.Replace(own, "mild", "mine", 1), 201)

	// bindings
	r.expect("jane", "POST", bindings, bound("x", "ClusterRole/strong", "jane"), 403, `clusterrolebindings.rbac.authorization.platform.io \"x\" is forbidden: user \"jane\"`, grantText)
	r.expect("jane", "POST", bindings, bound("x", "ClusterRole/cluster-admin", "jane"), 403, `{APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}\n{NonResourceURLs:[\"*\"], Verbs:[\"*\"]}`)
	r.expect("jane", "POST", bindings, bound("x", "ClusterRole/none", "jane"), 404, `clusterrole.rbac.authorization.platform.io \"none\" not found`)
	r.expect("jane", "POST", rbacPath+"/namespaces/default/rolebindings", bound("x", "ClusterRole/strong", "jane"), 403, grantText)
	r.expect("jane", "PATCH", bindings+"/cluster-admin", `{"subjects":[{"kind":"User",`+rbacGroup+`,"name":"jane"}]}`, 403, grantText)
	r.expect("jane", "POST", bindings, bound("mine", "ClusterRole/mild", "cleo"), 201)
	r.expectEventually("cleo", "GET", "/api/v1/namespaces/default/configmaps/x", "", 404)

	// the verbs that allow it
	r.grant("binder", "jane", `{"apiGroups":["rbac.authorization.platform.io"],"resources":["clusterroles"],"verbs":["bind"],"resourceNames":["strong"]}`)
	r.expectEventually("jane", "POST", bindings, bound("strong", "ClusterRole/strong", "cleo"), 201)
	r.expect("jane", "POST", bindings, bound("x", "ClusterRole/cluster-admin", "jane"), 403, grantText)
	r.grant("escalator", "jane", `{"apiGroups":["rbac.authorization.platform.io"],"resources":["clusterroles"],"verbs":["escalate"],"resourceNames":["mild"]}`)
	r.expectEventually("jane", "PATCH", roles+"/mild", `{"rules":[`+secrets+`]}`, 200)
	r.expect("jane", "POST", roles, full, 403, grantText)
}

// TestDefaultRolesAreRepaired: what was deleted or weakened comes back with the next start.
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
