package policy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestOperations: policies see every way to write, with the object before and after.
func TestOperations(t *testing.T) {
	openPoliciesInProfiles(t, func(t *testing.T, c policyCluster) {
		c.policy("p", rules("*", "", "v1", "configmaps pods pods/*"), `"variables":[{"name":"o","expression":"object != null ? object : oldObject"}],
			"validations":[{"expression":"'let' in variables.o.metadata.?labels.orValue({})","messageExpression":"request.operation + ' ' + request.resource.resource + '/' + request.?subResource.orValue('') + ' of ' + request.?name.orValue('') + ', dry ' + string(request.dryRun) + ', old ' + string(oldObject != null) + ', new ' + string(object != null)"}]`, "")
		const pod = `{"metadata":{"name":"p","labels":{"let":""}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
		const let = `{"metadata":{"name":"%s","labels":{"let":""}}}`
		c.send(422, http.MethodPost, configMaps, configMap("a", ""), "CREATE configmaps/ of a, dry false, old false, new true")
		c.send(422, http.MethodPost, configMaps+"?dryRun=All", configMap("a", ""), "CREATE configmaps/ of a, dry true")
		c.send(422, http.MethodPost, configMaps, `{"metadata":{"generateName":"gen-"}}`, "CREATE configmaps/ of ", `configmaps \"gen-`)
		c.sendAs(422, http.MethodPatch, configMaps+"/a?fieldManager=m", "application/apply-patch+yaml", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`, "CREATE configmaps/ of a")
		c.send(201, http.MethodPost, configMaps, fmt.Sprintf(let, "a"))
		c.send(422, http.MethodPatch, configMaps+"/a", `{"metadata":{"labels":null}}`, "UPDATE configmaps/ of a, dry false, old true, new true")
		c.sendAs(422, http.MethodPatch, configMaps+"/a", "application/json-patch+json", `[{"op":"remove","path":"/metadata/labels"}]`, "UPDATE configmaps/ of a")
		c.send(422, http.MethodPut, configMaps+"/a", configMap("a", `"x":"y"`), "UPDATE configmaps/ of a")
		c.send(200, http.MethodPatch, configMaps+"/a", `{"data":{"x":"y"}}`)
		c.send(201, http.MethodPost, pods, pod)
		c.send(422, http.MethodPost, pods+"/p/binding", `{"metadata":{"name":"p"},"target":{"name":"n"}}`, "CREATE pods/binding of p")
		c.send(422, http.MethodPost, pods+"/p/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}}`, "CREATE pods/eviction of p")
		c.send(422, http.MethodPatch, pods+"/p/status", `{"metadata":{"labels":null},"status":{"phase":"Failed"}}`, "UPDATE pods/status of p")
		c.send(200, http.MethodDelete, pods+"/p?gracePeriodSeconds=0", "")

		c.clear()
		c.send(201, http.MethodPost, configMaps, configMap("b", ""))
		c.policy("q", rules("DELETE", "", "v1", "configmaps"), `"validations":[{"expression":"object == null && 'let' in oldObject.metadata.?labels.orValue({})","message":"stays"}]`, "")
		c.send(422, http.MethodDelete, configMaps+"/b", "", "stays")
		c.send(422, http.MethodDelete, configMaps+"?labelSelector=!let", "", "stays")
		c.send(200, http.MethodDelete, configMaps+"?labelSelector=let", "")
		c.send(404, http.MethodGet, configMaps+"/a", "")
		c.send(200, http.MethodGet, configMaps+"/b", "")
	})
}

// TestEffectIsImmediate: a policy, a binding and parameters count as soon as their write is answered, and as long as they are there.
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

// TestParams: where parameters come from.
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
			what, spec, binding string
			code                int
			want                string
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
			t.Run(x.what, func(t *testing.T) {
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

// TestCustomKinds: policies about custom kinds, in another version, too.
func TestCustomKinds(t *testing.T) {
	openPoliciesInProfiles(t, func(t *testing.T, c policyCluster) {
		const schema = `"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"n":{"type":"integer"},"set":{"type":"array","x-platform-list-type":"set","items":{"type":"string"}},"list":{"type":"array","items":{"type":"string"}}}}}}}`
		text := `{"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,` + schema + `},{"name":"v2","served":true,"storage":false,` + schema + `}]}}`
		c.send(201, http.MethodPost, "/apis/apiextensions.platform.io/v1/customresourcedefinitions", text)
		thing := func(version, name, spec string) string {
			return `{"apiVersion":"example.com/` + version + `","kind":"Thing","metadata":{"name":"` + name + `"},"spec":{` + spec + `}}`
		}
		const at = "/apis/example.com/%s/namespaces/default/things"
		c.policy("p", rules("*", "example.com", "v1", "things"), `"validations":[{"expression":"object.spec.n < 5 && object.apiVersion == 'example.com/v1' && request.kind.version == 'v1'","messageExpression":"request.requestKind.version + ' as ' + request.kind.version"}]`, "")
		c.send(422, http.MethodPost, fmt.Sprintf(at, "v1"), thing("v1", "a", `"n":5`), "v1 as v1")
		c.send(422, http.MethodPost, fmt.Sprintf(at, "v2"), thing("v2", "a", `"n":5`), "v2 as v1")
		c.send(201, http.MethodPost, fmt.Sprintf(at, "v2"), thing("v2", "a", `"n":4`))
		c.send(422, http.MethodPatch, fmt.Sprintf(at, "v2")+"/a", `{"spec":{"n":6}}`, "v2 as v1")
		c.clear()
		c.mutation("m", rules("CREATE", "example.com", "v2", "things"), `"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{spec: Object.spec{n: 7, set: ['b','c']}}"}}]`, "")
		c.send(201, http.MethodPost, fmt.Sprintf(at, "v1"), thing("v1", "b", `"set":["a","b"],"list":["l"]`), `"apiVersion":"example.com/v1"`, `"n":7`, `"set":["a","b","c"]`, `"list":["l"]`)
		c.clear()
		c.mutation("m", rules("CREATE", "example.com", "v1", "things"), `"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{spec: Object.spec{list: ['x']}}"}}]`, "")
		c.send(403, http.MethodPost, fmt.Sprintf(at, "v1"), thing("v1", "c", ""), "may not mutate atomic arrays, maps or structs: .spec.list")
	})
}

// TestEquivalentVersions: a built-in kind in another version, and another group.
func TestEquivalentVersions(t *testing.T) {
	t.Parallel()
	c := openPolicies(t, "platform")
	const scalers = "/apis/autoscaling/%s/namespaces/default/horizontalpodautoscalers"
	c.policy("p", rules("CREATE", "autoscaling", "v1", "horizontalpodautoscalers"), `"validations":[{"expression":"object.apiVersion == 'autoscaling/v1' && object.spec.targetCPUUtilizationPercentage < 80"}]`, "")
	body := func(percent int) string {
		return fmt.Sprintf(`{"metadata":{"name":"a"},"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"},"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":%d}}}]}}`, percent)
	}
	c.send(422, http.MethodPost, fmt.Sprintf(scalers, "v2"), body(90), "failed expression")
	c.send(201, http.MethodPost, fmt.Sprintf(scalers, "v2"), body(70))
	c.mutation("m", rules("UPDATE", "autoscaling", "v1", "horizontalpodautoscalers"), `"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{spec: Object.spec{targetCPUUtilizationPercentage: 60}}"}}]`, "")
	c.send(200, http.MethodPatch, fmt.Sprintf(scalers, "v2")+"/a", `{"spec":{"maxReplicas":4}}`, `"averageUtilization":60`, `"maxReplicas":4`)
}

// TestOwnKindsAreExempt: a policy cannot keep anybody from repairing it.
func TestOwnKindsAreExempt(t *testing.T) {
	t.Parallel()
	c := openPolicies(t, "platform")
	c.policy("p", rules("*", "*", "*", "*"), `"validations":[{"expression":"false"}]`, "")
	c.send(422, http.MethodPost, configMaps, configMap("a", ""))
	c.clear()
	c.send(201, http.MethodPost, configMaps, configMap("a", ""))
}

// TestTakenName checks that validation and policies come before the conflict with an existing name,
// also in a dry run.
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
