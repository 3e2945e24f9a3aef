package admissionregistration_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/internal/catalogtest"
)

// TestValidObjects has objects that are just within the limits.
func TestValidObjects(t *testing.T) {
	const admission = "admissionregistration.platform.io"
	const match = `"matchConstraints":{"resourceRules":[{` + catalogtest.HookRule + `"resources":["pods"]}]}`
	catalogtest.ExpectValid(t, admission, "v1", "ValidatingAdmissionPolicy", `{"spec":{`+match+`,"auditAnnotations":[`+catalogtest.RepeatItem(20, `{"key":"%","valueExpression":"1"}`)+`]}}`,
		`{"spec":{`+match+`,"validations":[{"expression":"a\nb","message":"m","messageExpression":"'m'"}]}}`)
	catalogtest.ExpectValid(t, admission, "v1", "ValidatingAdmissionPolicyBinding", `{"spec":{"policyName":"p","validationActions":["Warn","Audit"]}}`)
	hook := func(more string) string { return catalogtest.Hooks(catalogtest.HookHead + `,` + more) }
	catalogtest.ExpectValid(t, admission, "v1", "ValidatingWebhookConfiguration", hook(catalogtest.HookURL+`,"timeoutSeconds":1`), hook(`"clientConfig":{"service":{"name":"a","namespace":"b","path":"/"}}`),
		hook(`"clientConfig":{"service":{"name":"a","namespace":"b","path":""}}`), hook(catalogtest.HookURL+`,"rules":[{"operations":["CREATE","UPDATE"],"apiGroups":["a","b"],"apiVersions":["*"],"resources":["*/*"]},{"operations":["*"],"apiGroups":["*"],"apiVersions":["v1","v2"],"resources":["*","a/b"]}]`),
		strings.Replace(hook(catalogtest.HookURL), `["v1"]`, `["v1","v9"]`, 1), hook(catalogtest.HookURL+`,"matchConditions":[`+catalogtest.RepeatItem(60, `{"name":"%","expression":"true"}`)+`]`))
}
