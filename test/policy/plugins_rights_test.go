package policy

import (
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

func TestOwnerReferences(t *testing.T) {
	t.Parallel()
	c := serveUsers(t, func(c *daemon.Config, _ string) {
		c.Admission.Enable = []string{"OwnerReferencesPermissionEnforcement"}
	}, "jane", "joe")
	c.bind("writers", "jane", `{"apiGroups":[""],"resources":["configmaps"],"verbs":["get","create","update","patch"]}`)
	c.bind("owners", "joe", `{"apiGroups":[""],"resources":["configmaps"],"verbs":["*"]},{"apiGroups":[""],"resources":["secrets/finalizers"],"verbs":["update"]}`)
	owner := c.must("/api/v1/namespaces/default/secrets", `{"metadata":{"name":"s"}}`).UID()
	ref := func(blocks string) string {
		return `"ownerReferences":[{"apiVersion":"v1","kind":"Secret","name":"s","uid":"` + owner + `","blockOwnerDeletion":` + blocks + `}]`
	}
	object := func(name, more string) string { return `{"metadata":{"name":"` + name + `",` + more + `}}` }
	const blocks = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: "
	c.expect("jane", "POST", configMaps, object("a", ref("false")), 201)
	c.expect("jane", "POST", configMaps, object("b", ref("true")), 403, `configmaps "b" is forbidden: `+blocks)
	c.expect("joe", "POST", configMaps, object("b", ref("true")), 201)
	c.expect("root", "POST", configMaps, object("x", `"ownerReferences":[{"apiVersion":"a.b/v1","kind":"X","name":"x","uid":"1","blockOwnerDeletion":true}]`), 201)
	c.expect("joe", "POST", configMaps, object("y", `"ownerReferences":[{"apiVersion":"a.b/v1","kind":"X","name":"x","uid":"1","blockOwnerDeletion":true}]`), 403,
		`cannot find RESTMapping for APIVersion a.b/v1 Kind X: no matches for kind "X" in version "a.b/v1"`)
	const owners = "cannot set an ownerRef on a resource you can't delete: "
	c.expect("jane", "PATCH", configMaps+"/a", `{"metadata":{"ownerReferences":null}}`, 403, owners)
	c.expect("jane", "PATCH", configMaps+"/a", `{"metadata":{"labels":{"a":"b"}}}`, 200)
	c.expect("jane", "PUT", configMaps+"/a", object("a", ref("false")), 200)
	c.expect("jane", "PUT", configMaps+"/a", object("a", ref("true")), 403, owners)
	c.expect("joe", "PUT", configMaps+"/a", object("a", ref("true")), 200)
	c.expect("joe", "PATCH", configMaps+"/a", `{"metadata":{"ownerReferences":null}}`, 200)
}

func TestExternalIPs(t *testing.T) {
	t.Parallel()
	const services, denied = "/api/v1/namespaces/default/services", `services "b" is forbidden: Use of external IPs is denied by admission control`
	service := func(name, ips string) string {
		return `{"metadata":{"name":"` + name + `"},"spec":{"ports":[{"port":80}],"externalIPs":[` + ips + `]}}`
	}
	free := serveUsers(t, nil)
	free.must(services, service("b", `"192.0.2.1"`))
	c := serveUsers(t, func(c *daemon.Config, _ string) { c.Admission.Enable = []string{"DenyServiceExternalIPs"} })
	c.expect("root", "POST", services, service("b", `"192.0.2.1"`), 403, denied)
	c.must(services, service("b", ""))
	c.expect("root", "PATCH", services+"/b", `{"spec":{"externalIPs":["192.0.2.1"]}}`, 403, denied)
	c.expect("root", "PATCH", services+"/b", `{"metadata":{"labels":{"a":"b"}}}`, 200)
}

func TestPluginAlwaysDeny(t *testing.T) {
	t.Parallel()
	c := serveUsers(t, func(c *daemon.Config, _ string) { c.Admission.Enable = []string{"AlwaysDeny", "AlwaysAdmit"} })
	const denied = "admission control is denying all modifications"
	c.expect("root", "POST", configMaps, `{"metadata":{"name":"a"}}`, 403, `configmaps "a" is forbidden: `+denied)
	c.expect("root", "DELETE", "/api/v1/namespaces/default/services/platform", "", 403, denied)
	c.expect("root", "GET", configMaps, "", 200)
	c.expect("root", "POST", "/apis/authorization.platform.io/v1/selfsubjectaccessreviews", `{"spec":{}}`, 403, denied)
}
