package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestAdmissionPolicy(t *testing.T) {
	k := KindInGroup(t, meta.Platform, "admissionregistration.platform.io", "ValidatingAdmissionPolicy")
	const match = `"matchConstraints":{"resourceRules":[{` + hookRule + `"resources":["pods"]}]}`
	const valid = `"validations":[{"expression":"true"}]`
	spec := func(parts ...string) string { return `{"spec":{` + strings.Join(parts, ",") + `}}` }
	RunValidationCases(t, k, []ValidationCase{
		{Obj: spec(match, valid)},
		{Obj: spec(match), Want: []string{`spec.validations: Required value: validations or auditAnnotations must contain at least one item`,
			`spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item`}},
		{Obj: spec(valid), Want: []string{`spec.matchConstraints: Required value`}},
		{Obj: spec(valid, `"matchConstraints":{}`), Want: []string{`spec.matchConstraints.resourceRules: Required value`}},
		{Obj: spec(match, valid, `"failurePolicy":"Shrug"`), Want: []string{`spec.failurePolicy: Unsupported value: "Shrug": supported values: "Fail", "Ignore"`}},
		{Obj: spec(match, valid, `"paramKind":{}`), Want: []string{`spec.paramKind.apiVersion: Required value`, `spec.paramKind.kind: Required value`}},
		{Obj: spec(match, valid, `"paramKind":{"apiVersion":"a/b/c","kind":"a b"}`), Want: []string{
			`spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`, `spec.paramKind.kind: Invalid value: "a b": may have mixed case, but should otherwise match: a DNS-1035 label…`}},
		{Obj: spec(match, `"validations":[{},{"expression":"true\n|| false"},{"expression":"true","message":" ","messageExpression":" ","reason":"Bored"},{"expression":"true","message":"a\nb","reason":"Unauthorized"}]`), Want: []string{
			`spec.validations[0].expression: Required value: expression is not specified`,
			`spec.validations[2].messageExpression: Invalid value: " ": must be non-empty if specified`, `spec.validations[2].message: Invalid value: " ": must be non-empty if specified`,
			`spec.validations[2].reason: Unsupported value: "Bored": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"`,
			`spec.validations[3].reason: Unsupported value: "Unauthorized": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"`,
			`spec.validations[3].message: Invalid value: "a\nb": must not contain line breaks`}},
		{Obj: spec(match, `"auditAnnotations":[{"key":"a","valueExpression":"'b'"},{"key":"a"},{"key":"a b","valueExpression":"null"},{"valueExpression":"null"}]`), Want: []string{
			`spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified`, `spec.auditAnnotations[1].key: Duplicate value: "a"`,
			`spec.auditAnnotations[2].key: Invalid value: "x/a b": name part…`, `spec.auditAnnotations[3].key: Invalid value: "x/": name part must be non-empty`, `spec.auditAnnotations[3].key: Invalid value: "x/": name part must consist…`}},
		{Obj: spec(match, valid, `"variables":[{},{"name":"a-b","expression":"1"},{"name":"in","expression":"1"},{"name":"ok","expression":"1"}]`), Want: []string{
			`spec.variables[0].name: Required value: name is not specified`, `spec.variables[0].expression: Required value: expression is not specified`,
			`spec.variables[1].name: Invalid value: "a-b": must be a valid CEL identifier`, `spec.variables[2].name: Invalid value: "in": must be a valid CEL identifier`}},
		{Obj: spec(valid, `"matchConstraints":{"resourceRules":[{`+hookRule+`"resources":["pods"],"resourceNames":["a","a","b/c"]}],"excludeResourceRules":[{"resources":["x"]}]}`), Want: []string{
			`spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"`, `spec.matchConstraints.resourceRules[0].resourceNames[2]: Invalid value: "b/c": may not contain '/'`,
			`spec.matchConstraints.excludeResourceRules[0].operations: Required value`, `spec.matchConstraints.excludeResourceRules[0].apiGroups: Required value`,
			`spec.matchConstraints.excludeResourceRules[0].apiVersions: Required value`}},
		{Obj: spec(match, valid, `"matchConditions":[`+strings.TrimSuffix(strings.Repeat(`{"expression":"true"},`, 65), ",")+`]`), Want: append(
			[]string{`spec.matchConditions: Too many: 65: must have at most 64 items`}, requireFields(65)...)},
	})
}

func requireFields(n int) []string {
	var want []string
	for range n {
		want = append(want, `spec.matchConditions[…`)
	}
	return want
}

func TestAdmissionBinding(t *testing.T) {
	k := KindInGroup(t, meta.Platform, "admissionregistration.platform.io", "ValidatingAdmissionPolicyBinding")
	const head = `"policyName":"p","validationActions":["Deny","Audit"]`
	RunValidationCases(t, k, []ValidationCase{
		{Obj: `{"spec":{` + head + `,"paramRef":{"name":"a","parameterNotFoundAction":"Deny"}}}`},
		{Obj: `{"spec":{}}`, Want: []string{`spec.policyName: Required value`, `spec.validationActions: Required value`}},
		{Obj: `{"spec":{"policyName":"P","validationActions":["Deny","Warn","Shout","Deny"]}}`, Want: []string{
			`spec.validationActions[3]: Duplicate value: "Deny"`, `spec.policyName: Invalid value: "P": a lowercase RFC 1123 subdomain…`,
			`spec.validationActions[2]: Unsupported value: "Shout": supported values: "Audit", "Deny", "Warn"`,
			`spec.validationActions: Invalid value: ["Deny","Warn","Shout","Deny"]: must not contain both Deny and Warn…`}},
		{Obj: `{"spec":{` + head + `,"paramRef":{}}}`, Want: []string{`spec.paramRef: Required value: one of name or selector must be specified`, `spec.paramRef.parameterNotFoundAction: Required value`}},
		{Obj: `{"spec":{` + head + `,"paramRef":{"name":"a/b","selector":{},"parameterNotFoundAction":"Cry"}}}`, Want: []string{
			`spec.paramRef.name: Invalid value: "a/b": may not contain '/'`, `spec.paramRef.name: Forbidden: name and selector are mutually exclusive`,
			`spec.paramRef.selector: Forbidden: name and selector are mutually exclusive`, `spec.paramRef.parameterNotFoundAction: Unsupported value: "Cry": supported values: "Deny", "Allow"`}},
		{Obj: `{"spec":{` + head + `,"matchResources":{"matchPolicy":"Near"}}}`, Want: []string{`spec.matchResources.matchPolicy: Unsupported value: "Near": supported values: "Equivalent", "Exact"`}},
	})
}
