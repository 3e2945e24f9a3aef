package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestAdmissionPolicyValidation(t *testing.T) {
	const group = "admissionregistration.platform.io"
	const badSelectors = `"namespaceSelector":{"matchLabels":{"a b":""}},"objectSelector":{"matchLabels":{"a":"b c"}}`
	faults := func(path string) []string {
		return []string{path + `.namespaceSelector.matchLabels: Invalid value: "a b": name part…`, path + `.objectSelector.matchLabels: Invalid value: "b c": a valid label…`}
	}
	const match = `"matchConstraints":{"resourceRules":[{` + hookRule + `"resources":["pods"]}]`
	const valid = `"validations":[{"expression":"true"}]`
	RunValidationCases(t, KindInGroup(t, meta.Platform, group, "ValidatingAdmissionPolicy"), []ValidationCase{
		{Obj: `{"spec":{` + match + `,` + badSelectors + `},` + valid + `}}`, Want: faults("spec.matchConstraints")},
		{Obj: `{"spec":{` + match + `},` + valid + `,"paramKind":{"apiVersion":"A/v1","kind":"K"}}}`, Want: []string{`spec.paramKind.apiVersion: Invalid value: "A/v1": a lowercase RFC 1123 subdomain…`}},
		{Obj: `{"spec":{` + match + `},` + valid + `,"paramKind":{"apiVersion":"a.b/V","kind":"K"}}}`, Want: []string{`spec.paramKind.apiVersion: Invalid value: "a.b/V": a DNS-1035 label…`}},
		{Obj: `{"spec":{` + match + `},"auditAnnotations":[` + auditAnnotations(21) + `]}}`, Want: []string{`spec.auditAnnotations: Too many: 21: must have at most 20 items`}},
	})
	const head = `"policyName":"p","validationActions":["Deny"]`
	RunValidationCases(t, KindInGroup(t, meta.Platform, group, "ValidatingAdmissionPolicyBinding"), []ValidationCase{
		{Obj: `{"spec":{` + head + `,"matchResources":{` + badSelectors + `}}}`, Want: faults("spec.matchResources")},
		{Obj: `{"spec":{` + head + `,"paramRef":{"selector":{"matchLabels":{"a b":""}},"parameterNotFoundAction":"Deny"}}}`, Want: []string{`spec.paramRef.selector.matchLabels: Invalid value: "a b": name part…`}},
	})
	RunValidationCases(t, KindInGroup(t, meta.Platform, group, "ValidatingWebhookConfiguration"), []ValidationCase{
		{Obj: hooks(strings.Replace(hookHead, "a.b.example", "A.b.c", 1) + `,` + hookURL), Want: []string{`webhooks[0].name: Invalid value: "A.b.c": a lowercase RFC 1123 subdomain…`}},
		{Obj: hooks(hookHead + `,` + hookURL + `,"matchConditions":[{"name":"a b","expression":"true"}]`), Want: []string{`webhooks[0].matchConditions[0].name: Invalid value: "a b": name part…`}},
		{Obj: hooks(hookHead + `,"clientConfig":{"url":"https://[h"}`), Want: []string{`webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "https://[h": missing ']' in host; desired format: https://host[/path]`}},
		{Obj: hooks(hookHead + `,"clientConfig":{"service":{"name":"a","namespace":"b","path":"//"}}`), Want: []string{`webhooks[0].clientConfig.service.path: Invalid value: "//": segment[0] may not be empty`}},
	})
}

func auditAnnotations(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = `{"key":"` + strings.Repeat("k", i+1) + `","valueExpression":"'a'"}`
	}
	return strings.Join(all, ",")
}
