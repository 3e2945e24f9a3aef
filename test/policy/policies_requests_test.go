package policy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestEffectIsImmediate checks that policies, bindings and parameters take effect once their
// creation is acknowledged, and stop once their deletion is acknowledged.
func TestEffectIsImmediate(t *testing.T) {
	t.Parallel()
	c := openPolicies(t, "platform")
	bindings, policies := admissionPath+"v1/validatingadmissionpolicybindings", admissionPath+"v1/validatingadmissionpolicies"
	for i := range 20 {
		c.policy("p", "", `"validations":[{"expression":"false"}]`, "")
		c.send(422, http.MethodPost, configMaps, configMap("a", ""))
		c.send(200, http.MethodPatch, policies+"/p", `{"spec":{"validations":[{"expression":"true"}]}}`)
		c.send(201, http.MethodPost, configMaps, configMap(fmt.Sprint("a", i), ""))
		c.send(200, http.MethodPatch, policies+"/p", `{"spec":{"validations":[{"expression":"false"}]}}`)
		c.send(422, http.MethodPost, configMaps, configMap("a", ""))
		c.send(200, http.MethodPatch, bindings+"/p-b", `{"spec":{"validationActions":["Audit"]}}`)
		c.send(201, http.MethodPost, configMaps, configMap(fmt.Sprint("b", i), ""))
		c.send(200, http.MethodDelete, bindings+"/p-b", "")
		c.send(200, http.MethodDelete, policies+"/p", "")
	}
	c.policy("p", "", `"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"matchConditions":[{"name":"x","expression":"object.metadata.name != 'limit'"}],"validations":[{"expression":"size(object.data) <= int(params.data.most)"}]`, `"paramRef":{"name":"limit","parameterNotFoundAction":"Deny"}`)
	c.send(422, http.MethodPost, configMaps, configMap("c", `"x":"y"`), "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction")
	c.send(422, http.MethodPost, configMaps, configMap("limit", ""), "no params found")
	c.send(201, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"n"}}`)
	c.send(200, http.MethodPatch, bindings+"/p-b", `{"spec":{"matchResources":{"excludeResourceRules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"resourceNames":["limit"]}]}}}`)
	c.send(201, http.MethodPost, configMaps, configMap("limit", `"most":"0"`))
	for i := range 20 {
		c.send(200, http.MethodPatch, configMaps+"/limit", `{"data":{"most":"0"}}`)
		c.send(422, http.MethodPost, configMaps, configMap("c", `"x":"y"`), "failed expression")
		c.send(200, http.MethodPatch, configMaps+"/limit", `{"data":{"most":"1"}}`)
		c.send(201, http.MethodPost, configMaps, configMap(fmt.Sprint("c", i), `"x":"y"`))
	}
}

// TestParams checks how bindings select parameter objects.
func TestParams(t *testing.T) {
	openPoliciesInProfiles(t, func(t *testing.T, c policyCluster) {
		const definition = `{"metadata":{"name":"%s.rules.example"},"spec":{"group":"rules.example","scope":"%s","names":{"plural":"%s","kind":"%s"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"most":{"type":"integer"}}}}}]}}`
		c.send(201, http.MethodPost, "/apis/apiextensions.platform.io/v1/customresourcedefinitions", fmt.Sprintf(definition, "limits", "Namespaced", "limits", "Limit"))
		c.send(201, http.MethodPost, "/apis/apiextensions.platform.io/v1/customresourcedefinitions", fmt.Sprintf(definition, "bounds", "Cluster", "bounds", "Bound"))
		param := func(path, kind, name, most string) {
			c.send(201, http.MethodPost, "/apis/rules.example/v1/"+path, `{"apiVersion":"rules.example/v1","kind":"`+kind+`","metadata":{"name":"`+name+`","labels":{"is":"`+name+`","all":""}},"most":`+most+`}`)
		}
		c.send(201, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"other"}}`)
		param("namespaces/default/limits", "Limit", "one", "1")
		param("namespaces/default/limits", "Limit", "two", "2")
		param("namespaces/other/limits", "Limit", "one", "0")
		param("bounds", "Bound", "three", "3")
		const limit, bound = `"paramKind":{"apiVersion":"rules.example/v1","kind":"Limit"}`, `"paramKind":{"apiVersion":"rules.example/v1","kind":"Bound"}`
		const check = `,"validations":[{"expression":"params == null || size(object.data) <= params.most","messageExpression":"params.kind + ' ' + params.metadata.name + ' of ' + params.apiVersion"}]`
		for _, x := range []struct {
			label, spec, binding string
			code                 int
			want                 string
		}{
			{"by name", limit, `"paramRef":{"name":"one","parameterNotFoundAction":"Deny"}`, 422, "Limit one of rules.example/v1"},
			{"by another name", limit, `"paramRef":{"name":"two","parameterNotFoundAction":"Deny"}`, 201, ""},
			{"of another namespace", limit, `"paramRef":{"name":"one","namespace":"other","parameterNotFoundAction":"Deny"}`, 422, "Limit one"},
			{"by labels", limit, `"paramRef":{"selector":{"matchLabels":{"all":""}},"parameterNotFoundAction":"Deny"}`, 422, "Limit one"},
			{"by labels of one", limit, `"paramRef":{"selector":{"matchLabels":{"is":"two"}},"parameterNotFoundAction":"Deny"}`, 201, ""},
			{"none, allowed", limit, `"paramRef":{"name":"none","parameterNotFoundAction":"Allow"}`, 201, ""},
			{"none, denied", limit, `"paramRef":{"name":"none","parameterNotFoundAction":"Deny"}`, 422, "no params found for policy binding"},
			{"none, denied, and faults are ignored", limit + `,"failurePolicy":"Ignore"`, `"paramRef":{"name":"none","parameterNotFoundAction":"Deny"}`, 201, ""},
			{"no reference", limit, "", 201, ""},
			{"of the cluster", bound, `"paramRef":{"name":"three","parameterNotFoundAction":"Deny"}`, 201, ""},
			{"of the cluster, with a namespace", bound, `"paramRef":{"name":"three","namespace":"other","parameterNotFoundAction":"Deny"}`, 422, "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"},
			{"unknown kind", strings.Replace(limit, "Limit", "Nothing", 1), `"paramRef":{"name":"three","parameterNotFoundAction":"Deny"}`, 422,
				"ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'rules.example/v1, Kind=Nothing'"},
		} {
			t.Run(x.label, func(t *testing.T) {
				c := c
				c.T = t
				c.policy("p", "", x.spec+check, x.binding)
				defer c.clear()
				c.send(x.code, http.MethodPost, configMaps, configMap("a", `"x":"1","y":"2"`), x.want)
				if x.code == 201 {
					c.send(200, http.MethodDelete, configMaps+"/a", "")
				}
			})
		}
		c.policy("p", rules("CREATE", "", "v1", "namespaces"), limit+check, `"paramRef":{"name":"one","parameterNotFoundAction":"Deny"}`)
		c.send(422, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"third"}}`, "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
	})
}

// TestTakenName checks the errors for creating an object whose name exists, including in a dry run.
// Validation and policy errors take precedence over 409 Already Exists.
func TestTakenName(t *testing.T) {
	t.Parallel()
	c := openPolicies(t, "platform")
	const (
		services = "/api/v1/namespaces/default/services"
		roles    = "/apis/rbac.authorization.platform.io/v1/clusterroles"
	)
	c.send(201, http.MethodPost, pods, `{"metadata":{"name":"taken"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	c.send(201, http.MethodPost, services, `{"metadata":{"name":"taken"},"spec":{"ports":[{"port":1}]}}`)
	c.send(201, http.MethodPost, "/api/v1/nodes", `{"metadata":{"name":"taken"}}`)
	c.send(201, http.MethodPost, roles, `{"metadata":{"name":"taken"}}`)
	c.send(201, http.MethodPost, configMaps, configMap("taken", ""))
	c.send(201, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"taken"}}`)
	objects := []struct{ path, valid, invalid string }{
		{pods, `{"metadata":{"name":"taken"},"spec":{"containers":[{"name":"c","image":"i"}]}}`, `{"metadata":{"name":"taken"},"spec":{"containers":[]}}`},
		{services, `{"metadata":{"name":"taken"},"spec":{"ports":[{"port":1}]}}`, `{"metadata":{"name":"taken"},"spec":{"ports":[{"port":-1}]}}`},
		{"/api/v1/nodes", `{"metadata":{"name":"taken"}}`, `{"metadata":{"name":"taken","labels":{"a b":"c"}}}`},
		{"/api/v1/namespaces", `{"metadata":{"name":"taken"}}`, `{"metadata":{"name":"taken","labels":{"a b":"c"}}}`},
		{roles, `{"metadata":{"name":"taken"}}`, `{"metadata":{"name":"taken"},"rules":[{}]}`},
		{configMaps, configMap("taken", ""), configMap("taken", `"a b":""`)},
	}
	for _, o := range objects {
		for _, query := range []string{"", "?dryRun=All"} {
			c.send(409, http.MethodPost, o.path+query, o.valid, "already exists")
			c.send(422, http.MethodPost, o.path+query, o.invalid, `"reason":"Invalid"`)
		}
	}
	c.policy("p", rules("CREATE", "*", "*", "*"), `"validations":[{"expression":"object.metadata.name != 'taken'","message":"not this name"}]`, "")
	for _, o := range objects {
		c.send(422, http.MethodPost, o.path, o.valid, "not this name")
	}
}
