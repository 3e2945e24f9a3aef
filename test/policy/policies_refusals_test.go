package policy

import (
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestRefusedPolicies checks that writing a policy fails if its expressions do not compile.
func TestRefusedPolicies(t *testing.T) {
	openPoliciesInProfiles(t, func(t *testing.T, c policyCluster) {
		const validating, mutating = "v1/validatingadmissionpolicies", "v1beta1/mutatingadmissionpolicies"
		const one = `"validations":[{"expression":"true"}]`
		for _, x := range []struct{ resource, spec, want string }{
			{validating, `"validations":[{"expression":"object."}]`, `spec.validations[0].expression: Invalid value: "object.": compilation failed: ERROR: <input>:1:8: Syntax error: no viable alternative at input '.'`},
			{validating, `"validations":[{"expression":"1"}]`, `spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int`},
			{validating, `"validations":[{"expression":"params.x == 1"}]`, `undeclared reference to 'params'`},
			{validating, `"validations":[{"expression":"variables.x == 1"}]`, `undeclared reference to 'variables'`},
			{validating, `"validations":[{"expression":"request.none == 1"}]`, `undefined field 'none'`},
			{validating, `"validations":[{"expression":"request.userInfo == 1"}]`, `platform.UserInfo`},
			{validating, `"validations":[{"expression":"true","messageExpression":"1"}]`, `spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int`},
			{validating, `"validations":[{"expression":"true","messageExpression":"string(authorizer)"}]`, `undeclared reference to 'authorizer'`},
			{validating, one + `,"variables":[{"name":"a","expression":"variables.b"},{"name":"b","expression":"1"}]`, `spec.variables[0].expression: Invalid value: "variables.b": compilation failed: ERROR: <input>:1:10: undefined field 'b'`},
			{validating, one + `,"variables":[{"name":"in","expression":"1"}]`, `spec.variables[0].name: Invalid value: "in": must be a valid CEL identifier`},
			{validating, one + `,"matchConditions":[{"name":"a","expression":"1"}]`, `spec.matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int`},
			{validating, one + `,"matchConditions":[{"name":"a","expression":"variables.x"}],"variables":[{"name":"x","expression":"true"}]`, `undeclared reference to 'variables'`},
			{validating, `"auditAnnotations":[{"key":"a","valueExpression":"1"}]`, `spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int`},
			{validating, `"auditAnnotations":[{"key":"a/b","valueExpression":"'x'"}]`, `spec.auditAnnotations[0].key: Invalid value: "p/a/b": a valid label key`},
			{mutating, `"reinvocationPolicy":"Never","mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"Object{}"}}]`, `spec.mutations[0].jsonPatch.expression: Invalid value: "Object{}": must evaluate to list(JSONPatch) but got Object`},
			{mutating, `"reinvocationPolicy":"Never","mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"[JSONPatch{op:'test'}]"}}]`, `must evaluate to Object but got list(JSONPatch)`},
			{mutating, `"reinvocationPolicy":"Never","mutations":[{"patchType":"ApplyConfiguration","jsonPatch":{"expression":"[]"}}]`, `spec.mutations[0].applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration`},
			{mutating, `"reinvocationPolicy":"Never"`, `spec.mutations: Required value: mutations must contain at least one item`},
			{mutating, `"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{}"}}]`, `spec.reinvocationPolicy: Required value`},
		} {
			c.send(422, http.MethodPost, admissionPath+x.resource, `{"metadata":{"name":"p"},"spec":{"matchConstraints":`+policyConfigMaps+`,`+x.spec+`}}`, x.want)
		}
		c.send(422, http.MethodPost, admissionPath+mutating, `{"metadata":{"name":"p"},"spec":{"matchConstraints":`+rules("DELETE", "", "v1", "pods")+`,"reinvocationPolicy":"Never","mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{}"}}]}}`,
			`spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CREATE", "UPDATE"`)
	})
}

// TestTypeChecking checks that a policy's status reports type errors for the kinds that it matches.
func TestTypeChecking(t *testing.T) {
	openPoliciesInProfiles(t, func(t *testing.T, c policyCluster) {
		const at = admissionPath + "v1/validatingadmissionpolicies/p"
		c.policy("p", rules("CREATE", "apps", "v1", "deployments replicasets nothing"), `"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"variables":[{"name":"n","expression":"object.spec.replicas"}],
			"validations":[{"expression":"object.spec.replicas > 1 && object.kind != '' && object.metadata.name != ''"},{"expression":"object.spec.replicaz > 1","messageExpression":"string(object.spec.pauzed) + string(variables.n)"},{"expression":"params.data.x == 1"}]`, "")
		observed := func(generation float64, want ...string) {
			client.Eventually(t, func() error {
				a := c.send(200, http.MethodGet, at, "")
				status, _ := a.Object()["status"].(map[string]any)
				if status["observedGeneration"] != generation {
					return &a
				}
				c.send(200, http.MethodGet, at, "", want...)
				return nil
			})
		}
		observed(1, `"fieldRef":"spec.validations[1].expression","warning":"apps/v1, Kind=Deployment: ERROR: \u003cinput\u003e:1:12: undefined field 'replicaz'\n | object.spec.replicaz \u003e 1\n | ...........^\n\napps/v1, Kind=ReplicaSet: ERROR`,
			`"fieldRef":"spec.validations[1].messageExpression"`, `undefined field 'pauzed'`, `"fieldRef":"spec.validations[2].expression"`, `found no matching overload for '_==_' applied to '(string, int)'`)
		c.send(200, http.MethodPatch, at, `{"spec":{"validations":[{"expression":"object.spec.replicas > 1"}]}}`)
		observed(2)
		if a := c.send(200, http.MethodGet, at, ""); strings.Contains(string(a.Body), "expressionWarnings") {
			t.Errorf("what was repaired is still warned of: %s", a.Body)
		}
	})
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	c := openPolicies(t, "platform")
	c.policy("p", "", `"validations":[{"expression":"object.data.x == 'y'"}]`, `"validationActions":["Deny","Audit"]`)
	c.send(422, http.MethodPost, configMaps, configMap("a", `"x":"z"`))
	c.send(422, http.MethodPost, configMaps, configMap("a", `"y":"z"`))
	c.send(201, http.MethodPost, configMaps, configMap("a", `"x":"y"`))
	c.mutation("m", "", `"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'add', path: '/data/a', value: 'b'}]"}}]`, "")
	c.send(201, http.MethodPost, configMaps, configMap("b", `"x":"y"`))
	c.policy("skips", "", `"matchConditions":[{"name":"c","expression":"object.data.x == 'skip'"}],"failurePolicy":"Ignore","validations":[{"expression":"false"}]`, "")
	c.send(201, http.MethodPost, configMaps, configMap("c", `"x":"y"`))
	c.send(201, http.MethodPost, configMaps, configMap("d", `"x":"y"`))
	c.send(200, http.MethodGet, "/metrics", "",
		`apiserver_admission_match_condition_evaluation_seconds_count{kind="policy",name="skips",operation="CREATE",type="validate"} 2`,
		`apiserver_validating_admission_policy_check_total{enforcement_action="deny",error_type="invalid_error",policy="p",policy_binding="p-b"} 2`,
		`apiserver_validating_admission_policy_check_total{enforcement_action="audit",error_type="invalid_error",policy="p",policy_binding="p-b"} 2`,
		`apiserver_validating_admission_policy_check_duration_seconds_count{enforcement_action="deny",error_type="invalid_error",policy="p",policy_binding="p-b"} 2`,
		`apiserver_mutating_admission_policy_check_total{error_type="no_error",policy="m",policy_binding="m-b"} 3`)
}
