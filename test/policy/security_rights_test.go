package policy

import (
	"strings"
	"testing"
)

// TestSecurityEscalation checks that users cannot use roles and bindings to grant permissions that
// they lack.
func TestSecurityEscalation(t *testing.T) {
	v := start(t, createUsers(t, "jane"))
	const (
		roles, bindings = rights + "/clusterroles", rights + "/clusterrolebindings"
		spaced          = rights + "/namespaces/default"
		group           = `"apiGroup":"rbac.authorization.platform.io"`
		secrets         = `{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}`
		head            = `{"apiVersion":"rbac.authorization.platform.io/v1","kind":"`
		jane            = `"subjects":[{"kind":"User",` + group + `,"name":"jane"}]`
		more            = `{"metadata":{"labels":{"rbac.authorization.platform.io/aggregate-to-view":"true"}}}`
		gather          = `"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}`
	)
	v.grant("clerk", "jane", `{"apiGroups":["rbac.authorization.platform.io"],"resources":["*"],"verbs":["get","create","update","patch"]},
		{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}`)
	role := func(name, rules string) string {
		return head + `ClusterRole","metadata":{"name":"` + name + `"},"rules":[` + rules + `]}`
	}
	local := func(name, rules string) string { return strings.Replace(role(name, rules), "ClusterRole", "Role", 1) }
	binding := func(name, to string) string {
		return head + `ClusterRoleBinding","metadata":{"name":"` + name + `"},"roleRef":{` + group + `,"kind":"ClusterRole","name":"` + to + `"},` + jane + `}`
	}
	bound := func(name, to string) string {
		return strings.Replace(binding(name, to), "ClusterRoleBinding", "RoleBinding", 1)
	}
	v.must(201, "POST", roles, typeJSON, role("mild", `{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}`))
	v.must(201, "POST", roles, typeJSON, role("strong", secrets))
	v.must(201, "POST", bindings, typeJSON, strings.Replace(binding("theirs", "strong"), `"jane"`, `"joe"`, 1))
	before := v.must(200, "GET", roles+"/mild", "", "") + v.must(200, "GET", roles+"/strong", "", "") + v.must(200, "GET", bindings+"/theirs", "", "")
	for _, test := range []struct{ method, path, kind, body string }{
		{"POST", roles, typeJSON, role("x", secrets)},
		{"POST", roles, "application/yaml", role("x", secrets)},
		{"POST", roles + "?dryRun=All", typeJSON, role("x", secrets)},
		{"POST", roles, typeJSON, role("x", `{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}`)},
		{"POST", roles, typeJSON, role("x", `{"nonResourceURLs":["*"],"verbs":["*"]}`)},
		{"POST", roles, typeJSON, role("x", `{"apiGroups":[""],"resources":["configmaps/*","*/log"],"verbs":["get"]}`)},
		{"POST", spaced + "/roles", typeJSON, local("x", secrets)},
		{"PUT", roles + "/x", typeJSON, role("x", secrets)},
		{"PUT", roles + "/mild", typeJSON, role("mild", secrets)},
		{"PUT", spaced + "/roles/x", typeJSON, local("x", secrets)},
		{"PATCH", roles + "/mild", typeJSONPatch, `[{"op":"add","path":"/rules/-","value":` + secrets + `}]`},
		{"PATCH", roles + "/mild", typeJSONPatch, `[{"op":"replace","path":"/rules/0/resources/0","value":"secrets"}]`},
		{"PATCH", roles + "/mild", typeMerge, `{"rules":[` + secrets + `]}`},
		{"PATCH", roles + "/mild", typeStrategic, `{"rules":[` + secrets + `]}`},
		{"PATCH", roles + "/mild?fieldManager=j&force=true", typeApply, role("mild", secrets)},
		{"PATCH", roles + "/x?fieldManager=j", typeApply, role("x", secrets)},
		{"PATCH", spaced + "/roles/x?fieldManager=j", typeApply, local("x", secrets)},
		// Aggregated cluster roles.
		{"PATCH", roles + "/strong", typeMerge, more},
		{"PATCH", roles + "/strong?fieldManager=j", typeApply, head + `ClusterRole","metadata":{"name":"strong",` + more[len(`{"metadata":{`):]},
		{"PATCH", roles + "/mild", typeMerge, `{` + gather + `}`},
		{"PATCH", roles + "/mild?fieldManager=j", typeApply, head + `ClusterRole","metadata":{"name":"mild"},` + gather + `}`},
		{"POST", roles, typeJSON, `{"metadata":{"name":"x"},` + gather + `}`},
		{"PATCH", roles + "/view", typeMerge, `{"aggregationRule":null}`},
		// Role bindings.
		{"POST", bindings, typeJSON, binding("x", "strong")},
		{"POST", bindings, typeJSON, binding("x", "cluster-admin")},
		{"POST", spaced + "/rolebindings", typeJSON, bound("x", "strong")},
		{"PUT", bindings + "/x", typeJSON, binding("x", "strong")},
		{"PUT", bindings + "/theirs", typeJSON, binding("theirs", "strong")},
		{"PATCH", bindings + "/theirs", typeJSONPatch, `[{"op":"replace","path":"/subjects/0/name","value":"jane"}]`},
		{"PATCH", bindings + "/theirs", typeMerge, `{` + jane + `}`},
		{"PATCH", bindings + "/theirs", typeStrategic, `{` + jane + `}`},
		{"PATCH", bindings + "/theirs?fieldManager=j&force=true", typeApply, binding("theirs", "strong")},
		{"PATCH", bindings + "/x?fieldManager=j", typeApply, binding("x", "strong")},
		{"PATCH", spaced + "/rolebindings/x?fieldManager=j", typeApply, bound("x", "strong")},
	} {
		v.want("jane", test.method, test.path, test.kind, test.body, 403)
	}
	after := v.must(200, "GET", roles+"/mild", "", "") + v.must(200, "GET", roles+"/strong", "", "") + v.must(200, "GET", bindings+"/theirs", "", "")
	if after != before {
		t.Errorf("something has changed:\n%s\n%s", before, after)
	}
	for _, path := range []string{roles + "/x", bindings + "/x", spaced + "/roles/x", spaced + "/rolebindings/x"} {
		v.must(404, "GET", path, "", "")
	}
	v.want("jane", "GET", "/api/v1/namespaces/default/secrets/x", "", "", 403)
	// Users may grant permissions that they have.
	v.want("jane", "POST", roles, typeJSON, role("own", `{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"],"resourceNames":["a"]}`), 201)
	v.want("jane", "POST", bindings, typeJSON, binding("own", "own"), 201)
}

// TestResourceNames checks that permissions with resourceNames do not apply to requests without a
// name.
func TestResourceNames(t *testing.T) {
	v := start(t, createUsers(t, "jane"))
	for _, name := range []string{"a", "b"} {
		v.must(201, "POST", configMaps, typeJSON, configMap(name))
	}
	v.grant("named", "jane", `{"apiGroups":[""],"resources":["configmaps"],"verbs":["*"],"resourceNames":["a","",".","*"]}`)
	v.want("jane", "GET", configMaps+"/a", "", "", 200)
	for _, test := range []struct{ method, path, body string }{
		{"GET", configMaps, ""},
		{"GET", configMaps + "?watch=1&timeoutSeconds=1", ""},
		{"GET", "/api/v1/watch/namespaces/default/configmaps?timeoutSeconds=1", ""},
		{"GET", "/api/v1/watch/namespaces/default/configmaps/b?timeoutSeconds=1", ""},
		{"GET", configMaps + "/b?fieldSelector=metadata.name%3Da", ""},
		{"GET", configMaps + "?fieldSelector=metadata.name%3Db", ""},
		{"GET", configMaps + "?fieldSelector=metadata.name%3Db,metadata.name%3Da", ""},
		{"GET", configMaps + "?fieldSelector=metadata.name!%3Db", ""},
		{"GET", configMaps + "?fieldSelector=metadata.name%3D", ""},
		{"GET", configMaps + "?labelSelector=metadata.name%3Da", ""},
		{"GET", configMaps + "?fieldSelector=metadata.namespace%3Da", ""},
		{"GET", configMaps + "?fieldselector=metadata.name%3Da", ""},
		{"GET", "/api/v1/configmaps", ""},
		{"POST", configMaps, configMap("a")},
		{"POST", configMaps + "?fieldSelector=metadata.name%3Da", configMap("c")},
		{"POST", configMaps, `{"metadata":{"generateName":"a"}}`},
		{"DELETE", configMaps, ""},
		{"DELETE", configMaps + "?fieldSelector=metadata.name%3Da", ""},
		{"DELETE", configMaps + "/b", ""},
		{"PATCH", configMaps + "/b", "{}"},
		{"PUT", configMaps + "/b", configMap("b")},
	} {
		v.want("jane", test.method, test.path, typeJSON, test.body, 403)
	}
	for _, path := range []string{
		configMaps + "?fieldSelector=metadata.name%3Da", configMaps + "?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3D%3Da",
		configMaps + "?fieldSelector=metadata.name%3Da&fieldSelector=metadata.name%3Db",
	} {
		if text := v.want("jane", "GET", path, "", "", 200); strings.Contains(text, `"name":"b"`) {
			t.Errorf("%s shows another object: %s", path, text)
		}
	}
}

// TestCreation checks that every request that creates an object requires the verb create.
func TestCreation(t *testing.T) {
	v := start(t, createUsers(t, "pat", "max"))
	const (
		leases = "/apis/coordination.platform.io/v1/namespaces/default/leases"
		roles  = rights + "/namespaces/default/roles"
	)
	rules := func(names string) string {
		return `{"apiGroups":["","coordination.platform.io","rbac.authorization.platform.io"],"resources":["configmaps","leases","roles"],"verbs":["get","update","patch"]` + names + `}`
	}
	v.grant("changing", "pat", rules(""))
	v.grant("changing-one", "max", rules(`,"resourceNames":["x"]`)+`,{"apiGroups":[""],"resources":["configmaps"],"verbs":["create"],"resourceNames":["x"]}`)
	lease := `{"apiVersion":"coordination.platform.io/v1","kind":"Lease","metadata":{"name":"x"}}`
	maps := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}`
	role := `{"apiVersion":"rbac.authorization.platform.io/v1","kind":"Role","metadata":{"name":"x"},"rules":[]}`
	for path, body := range map[string]string{leases: lease, configMaps: maps, roles: role} {
		for _, user := range []string{"pat", "max"} {
			if user == "max" && path == configMaps {
				continue
			}
			v.want(user, "PATCH", path+"/x?fieldManager=p", typeApply, body, 403)
			v.want(user, "PATCH", path+"/x?fieldManager=p&force=true&dryRun=All", typeApply, body, 403)
			v.want(user, "PUT", path+"/x", typeJSON, body, 403, 404)
			v.want(user, "PUT", path+"/x?dryRun=All", typeJSON, body, 403, 404)
		}
		v.must(404, "GET", path+"/x", "", "")
	}
	v.want("pat", "PUT", leases+"/x", typeJSON, lease, 403)
	if text := v.want("pat", "PATCH", configMaps+"/x?fieldManager=p", typeApply, maps, 403); !strings.Contains(text, `User \"pat\" cannot create resource \"configmaps\"`) {
		t.Errorf("the refusal says %s", text)
	}
	// An update or apply that creates an object requires only permission to create an object with
	// that name.
	v.want("max", "PATCH", configMaps+"/x?fieldManager=p", typeApply, maps, 201)
	v.must(201, "POST", leases, typeJSON, lease)
	v.must(201, "POST", roles, typeJSON, role)
	for path, body := range map[string]string{leases: lease, configMaps: maps, roles: role} {
		v.want("pat", "PATCH", path+"/x?fieldManager=p&force=true", typeApply, body, 200)
		v.want("pat", "PATCH", path+"/x", typeMerge, `{"metadata":{"labels":{"a":"b"}}}`, 200)
	}
	v.grant("creating", "pat", `{"apiGroups":["coordination.platform.io"],"resources":["leases"],"verbs":["create"]}`)
	v.want("pat", "PUT", leases+"/y", typeJSON, strings.Replace(lease, `"x"`, `"y"`, 1), 201)
	v.want("pat", "PATCH", leases+"/z?fieldManager=p", typeApply, strings.Replace(lease, `"x"`, `"z"`, 1), 201)
}
