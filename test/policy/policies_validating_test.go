package policy

import (
	"net/http"
	"strings"
	"testing"
)

// TestValidations checks the messages and the effects of validations.
func TestValidations(t *testing.T) {
	openPoliciesInProfiles(t, func(t *testing.T, c policyCluster) {
		const denied = `configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p-b' denied request: `
		for _, x := range []struct {
			name, spec, binding string
			code                int
			want                []string
		}{
			{"true", `"validations":[{"expression":"object.data.x == 'y'"}]`, "", 201, nil},
			{"false", `"validations":[{"expression":" object.data.x == 'z'\n"}]`, "", 422, []string{
				denied + `failed expression: object.data.x == 'z'`, `"reason":"Invalid"`, `"causes":[{"message":"ValidatingAdmissionPolicy 'p' with binding`}},
			{"message", `"validations":[{"expression":"false","message":" no \n"}]`, "", 422, []string{denied + `no"`}},
			{"messageExpression", `"validations":[{"expression":"false","message":"no","messageExpression":"'x is ' + object.data.x"}]`, "", 422, []string{denied + `x is y"`}},
			{"messageExpression that fails", `"validations":[{"expression":"false","message":"no","messageExpression":"string(object.data.none)"}]`, "", 422, []string{denied + `no"`}},
			{"messageExpression of several lines", `"validations":[{"expression":"false","messageExpression":"'a\\nb'"}]`, "", 422, []string{denied + `failed expression: false`}},
			{"messageExpression that is too long", `"validations":[{"expression":"false","message":"no","messageExpression":"[1,2,3,4,5,6].map(x, '` + strings.Repeat("x", 1000) + `').join('')"}]`, "", 422, []string{denied + `no"`}},
			{"Forbidden", `"validations":[{"expression":"false","reason":"Forbidden"}]`, "", 403, []string{`"reason":"Forbidden"`}},
			{"RequestEntityTooLarge", `"validations":[{"expression":"false","reason":"RequestEntityTooLarge"}]`, "", 413, []string{`"reason":"RequestEntityTooLarge"`}},
			{"the first counts", `"validations":[{"expression":"true"},{"expression":"false","message":"one","reason":"Forbidden"},{"expression":"false","message":"two"}]`, "", 403, []string{denied + `one"`}},
			{"Warn", `"validations":[{"expression":"false","message":"no"},{"expression":"false","message":"never"}]`, `"validationActions":["Warn"]`, 201, []string{
				`Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p-b': no`, `with binding 'p-b': never`}},
			{"Audit", `"validations":[{"expression":"false"}]`, `"validationActions":["Audit"]`, 201, nil},
			{"an error", `"validations":[{"expression":"object.data.none == 'z'"}]`, "", 422, []string{denied + `expression 'object.data.none == 'z'' resulted in error: no such key: none`}},
			{"an ignored error", `"failurePolicy":"Ignore","validations":[{"expression":"object.data.none == 'z'"}]`, "", 201, nil},
			{"an ignored error beside a failure", `"failurePolicy":"Ignore","validations":[{"expression":"object.data.none == 'z'"},{"expression":"false","message":"no"}]`, "", 422, []string{denied + `no"`}},
			{"an error that is warned of", `"validations":[{"expression":"object.data.none == 'z'"}]`, `"validationActions":["Warn"]`, 201, []string{"resulted in error"}},
			{"variables", `"variables":[{"name":"a","expression":"object.data.x + '1'"},{"name":"b","expression":"variables.a + '2'"}],"validations":[{"expression":"variables.b == 'y12'"},{"expression":"false","messageExpression":"variables.b"}]`, "", 422, []string{denied + `y12"`}},
			{"a variable that fails", `"variables":[{"name":"a","expression":"object.data.none"}],"validations":[{"expression":"variables.a == ''"}]`, "", 422, []string{`resulted in error: composited variable \"a\" fails to evaluate: no such key: none`}},
			{"an unused variable", `"variables":[{"name":"a","expression":"object.data.none"}],"validations":[{"expression":"true"}]`, "", 201, nil},
			{"a condition", `"matchConditions":[{"name":"x","expression":"object.data.x == 'no'"}],"validations":[{"expression":"false"}]`, "", 201, nil},
			{"a condition that fails", `"matchConditions":[{"name":"x","expression":"object.data.none == 'no'"}],"validations":[{"expression":"true"}]`, "", 422, []string{denied + `expression 'object.data.none == 'no'' resulted in error: no such key: none`}},
			{"a condition that fails beside a false one", `"matchConditions":[{"name":"x","expression":"object.data.none == 'no'"},{"name":"y","expression":"false"}],"validations":[{"expression":"false"}]`, "", 201, nil},
			{"two conditions that fail", `"matchConditions":[{"name":"x","expression":"object.data.a == ''"},{"name":"y","expression":"object.data.b == ''"}],"validations":[{"expression":"true"}]`, "", 422, []string{denied + `[expression 'object.data.a == ''' resulted`, `no such key: b]`}},
			{"a condition that fails and is ignored", `"failurePolicy":"Ignore","matchConditions":[{"name":"x","expression":"object.data.none == 'no'"}],"validations":[{"expression":"false"}]`, "", 201, nil},
			{"request", `"validations":[{"expression":"request.operation == 'CREATE' && request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps' && request.requestKind.version == 'v1' && request.name == 'a' && request.namespace == 'default' && request.dryRun == false && request.userInfo.username != '' && has(request.options.fieldManager) == false && request.options.kind == 'CreateOptions'"}]`, "", 201, nil},
			{"oldObject", `"validations":[{"expression":"oldObject == null && object.kind == 'ConfigMap' && object.apiVersion == 'v1' && has(object.metadata.uid)"}]`, "", 201, nil},
			{"namespaceObject", `"validations":[{"expression":"namespaceObject.metadata.name == 'default' && namespaceObject.status.phase == 'Active'"}]`, "", 201, nil},
			{"no namespaceObject in conditions", `"matchConditions":[{"name":"x","expression":"namespaceObject == null"}],"validations":[{"expression":"false","message":"here"}]`, "", 422, []string{denied + `here"`}},
			{"authorizer", `"validations":[{"expression":"authorizer.group('').resource('pods').namespace('default').check('create').allowed() && authorizer.requestResource.check('delete').allowed() && !authorizer.serviceAccount('default','x').requestless().allowed()"}]`, "", 0, []string{"undeclared reference to 'requestless'"}},
			{"the authorizer of another", `"validations":[{"expression":"authorizer.requestResource.check('custom').allowed() && !authorizer.serviceAccount('default','x').group('').resource('secrets').check('get').allowed()"}]`, "", 201, nil},
			{"annotations only", `"auditAnnotations":[{"key":"k","valueExpression":"'v'"}]`, "", 201, nil},
			{"an annotation that fails", `"auditAnnotations":[{"key":"k","valueExpression":"string(object.data.none)"}]`, "", 422, []string{denied + `expression 'string(object.data.none)' resulted in error: no such key: none`}},
			{"an annotation that fails and is ignored", `"failurePolicy":"Ignore","auditAnnotations":[{"key":"k","valueExpression":"string(object.data.none)"}]`, "", 201, nil},
			{"too expensive", `"validations":[{"expression":"` + expensive + `"}]`, "", 422, []string{denied + `expression '` + expensive + `' resulted in error: operation cancelled: actual cost limit exceeded`}},
			{"too expensive together", `"validations":[` + strings.Repeat(`{"expression":"`+costly+`"},`, 30) + `{"expression":"true"}]`, "", 422, []string{denied + `validation failed due to running out of cost budget, no further validation rules will be run`}},
			{"a rule of its own name", `"validations":[{"expression":"object.metadata.name == 'b'"}]`, `"matchResources":{"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"resourceNames":["b"]}]}`, 201, nil},
			{"of an other namespace", `"validations":[{"expression":"false"}]`, `"matchResources":{"namespaceSelector":{"matchLabels":{"is":"absent"}}}`, 201, nil},
			{"of another object", `"validations":[{"expression":"false"}]`, `"matchResources":{"objectSelector":{"matchLabels":{"is":"absent"}}}`, 201, nil},
			{"excluded", `"validations":[{"expression":"false"}]`, `"matchResources":{"excludeResourceRules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]}`, 201, nil},
		} {
			t.Run(x.name, func(t *testing.T) {
				c := c
				c.T = t
				if x.code == 0 {
					c.send(422, http.MethodPost, admissionPath+"v1/validatingadmissionpolicies", `{"metadata":{"name":"p"},"spec":{"matchConstraints":`+policyConfigMaps+`,`+x.spec+`}}`, x.want...)
					return
				}
				c.policy("p", "", x.spec, x.binding)
				defer c.clear()
				c.send(x.code, http.MethodPost, configMaps, configMap("a", `"x":"y"`), x.want...)
				if x.code == 201 {
					c.send(200, http.MethodDelete, configMaps+"/a", "")
				}
			})
		}
	})
}

const (
	ten = "[0,1,2,3,4,5,6,7,8,9]"
	// expensive exceeds the cost limit of an expression. costly is just below the limit, but takes
	// little CPU time.
	expensive = ten + ".all(a, " + ten + ".all(b, " + ten + ".all(c, " + ten + ".all(d, " + ten + ".all(e, " + ten + ".all(f, true))))))"
	costly    = "authorizer.group('').resource('pods').check('get').allowed() && authorizer.group('').resource('pods').check('list').allowed()"
)
