package api_test

import (
	"strings"
	"testing"
)

func TestAdmissionRegistrationValidObjects(t *testing.T) {
	const admission = "admissionregistration.platform.io"
	const match = `"matchConstraints":{"resourceRules":[{` + hookRule + `"resources":["pods"]}]}`
	ExpectValid(t, admission, "v1", "ValidatingAdmissionPolicy", `{"spec":{`+match+`,"auditAnnotations":[`+RepeatItem(20, `{"key":"%","valueExpression":"'a'"}`)+`]}}`,
		`{"spec":{`+match+`,"validations":[{"expression":"true\n||true","message":"m","messageExpression":"'m'"}]}}`)
	ExpectValid(t, admission, "v1", "ValidatingAdmissionPolicyBinding", `{"spec":{"policyName":"p","validationActions":["Warn","Audit"]}}`)
	hook := func(more string) string { return hooks(hookHead + `,` + more) }
	ExpectValid(t, admission, "v1", "ValidatingWebhookConfiguration", hook(hookURL+`,"timeoutSeconds":1`), hook(`"clientConfig":{"service":{"name":"a","namespace":"b","path":"/"}}`),
		hook(`"clientConfig":{"service":{"name":"a","namespace":"b","path":""}}`), hook(hookURL+`,"rules":[{"operations":["CREATE","UPDATE"],"apiGroups":["a","b"],"apiVersions":["*"],"resources":["*/*"]},{"operations":["*"],"apiGroups":["*"],"apiVersions":["v1","v2"],"resources":["*","a/b"]}]`),
		strings.Replace(hook(hookURL), `["v1"]`, `["v1","v9"]`, 1), hook(hookURL+`,"matchConditions":[`+RepeatItem(60, `{"name":"%","expression":"true"}`)+`]`))
}
