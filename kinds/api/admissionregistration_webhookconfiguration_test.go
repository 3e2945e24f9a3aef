package api_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

func TestWebhook(t *testing.T) {
	rule := func(r string) string {
		return hooks(hookHead + `,` + hookURL + `,"rules":[{` + r + `}]`)
	}
	client := func(c string) string { return hooks(hookHead + `,"clientConfig":{` + c + `}`) }
	const required = "webhooks[0].clientConfig: Required value: exactly one of url or service is required"
	cases := []ValidationCase{
		{Obj: `{}`},
		{Obj: hooks(hookHead + `,` + hookURL)},
		{Obj: `{"webhooks":[{` + hookHead + `,` + hookURL + `},{` + hookHead + `,` + hookURL + `}]}`, Want: []string{`webhooks[1].name: Duplicate value: "a.b.example"`}},
		{Obj: hooks(strings.Replace(hookHead, "a.b.example", "single", 1) + `,` + hookURL), Want: []string{`webhooks[0].name: Invalid value: "single": should be a domain with at least three segments separated by dots`}},
		{Obj: hooks(strings.Replace(hookHead, "a.b.example", "", 1) + `,` + hookURL), Want: []string{`webhooks[0].name: Required value`}},
		{Obj: hooks(strings.Replace(hookHead, "None", "Some", 1) + `,` + hookURL), Want: []string{`webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`}},
		{Obj: hooks(`"name":"a.b.c","admissionReviewVersions":["v1"],` + hookURL), Want: []string{`webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun`}},
		{Obj: hooks(`"name":"a.b.c","sideEffects":"None",` + hookURL), Want: []string{`webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1`}},
		{Obj: hooks(strings.Replace(hookHead, `"v1"`, `"v9","v9","V"`, 1) + `,` + hookURL), Want: []string{
			`webhooks[0].admissionReviewVersions[1]: Invalid value: "v9": duplicate version`, `webhooks[0].admissionReviewVersions[2]: Invalid value: "V": a DNS-1035 label…`,
			`webhooks[0].admissionReviewVersions: Invalid value: ["v9","v9","V"]: must include at least one of v1, v1beta1`}},
		{Obj: hooks(hookHead + `,` + hookURL + `,"timeoutSeconds":30`)},
		{Obj: hooks(hookHead + `,` + hookURL + `,"timeoutSeconds":31`), Want: []string{`webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds`}},
		{Obj: hooks(hookHead + `,` + hookURL + `,"timeoutSeconds":0`), Want: []string{`webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds`}},
		{Obj: hooks(hookHead + `,` + hookURL + `,"failurePolicy":"Shrug","matchPolicy":"Near"`), Want: []string{
			`webhooks[0].failurePolicy: Unsupported value: "Shrug": supported values: "Fail", "Ignore"`, `webhooks[0].matchPolicy: Unsupported value: "Near": supported values: "Equivalent", "Exact"`}},
		{Obj: hooks(hookHead + `,` + hookURL + `,"objectSelector":{"matchLabels":{"a b":""}},"namespaceSelector":{"matchLabels":{"a":"b c"}}`), Want: []string{
			`webhooks[0].namespaceSelector.matchLabels: Invalid value: "b c": a valid label…`, `webhooks[0].objectSelector.matchLabels: Invalid value: "a b": name part…`}},
		{Obj: hooks(hookHead + `,` + hookURL + `,"matchConditions":[{"name":"a","expression":" "},{"name":"a","expression":"true"},{"expression":"true"}]`), Want: []string{
			`webhooks[0].matchConditions[1].name: Duplicate value: "a"`, `webhooks[0].matchConditions[0].expression: Required value`, `webhooks[0].matchConditions[2].name: Required value`}},
		{Obj: client(``), Want: []string{required}},
		{Obj: client(`"url":"https://h","service":{"name":"a","namespace":"b"}`), Want: []string{required}},
		{Obj: client(`"url":"http://h/p"`), Want: []string{`webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`}},
		{Obj: client(`"url":"https:///p"`), Want: []string{`webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]`}},
		{Obj: client(`"url":"https://u:p@h/p?q=1#f"`), Want: []string{`webhooks[0].clientConfig.url: Invalid value: "<user information>": user information is not permitted in the URL`,
			`webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL`, `webhooks[0].clientConfig.url: Invalid value: "q=1": query parameters are not permitted in the URL`}},
		{Obj: client(`"service":{"name":"a","namespace":"b","path":"/x/y/"}`)},
		{Obj: client(`"service":{"port":0,"path":"x"}`), Want: []string{`webhooks[0].clientConfig.service.name: Required value`,
			`webhooks[0].clientConfig.service.namespace: Required value`,
			`webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive`,
			`webhooks[0].clientConfig.service.path: Invalid value: "x": must start with a '/'`, `webhooks[0].clientConfig.service.path: Invalid value: "x": segment[0] may not be empty`}},
		{Obj: client(`"service":{"name":"a","namespace":"b","path":"/x//A"}`), Want: []string{`webhooks[0].clientConfig.service.path: Invalid value: "/x//A": segment[1] may not be empty`,
			`webhooks[0].clientConfig.service.path: Invalid value: "/x//A": segment[2]: a lowercase RFC 1123 subdomain…`}},
		{Obj: rule(``), Want: []string{`webhooks[0].rules[0].operations: Required value`, `webhooks[0].rules[0].apiGroups: Required value`,
			`webhooks[0].rules[0].apiVersions: Required value`, `webhooks[0].rules[0].resources: Required value`}},
		{Obj: rule(hookRule + `"resources":["pods","pods/status","*/scale"],"scope":"Namespaced"`)},
		{Obj: rule(hookRule + `"resources":["pods"],"scope":"World"`), Want: []string{`webhooks[0].rules[0].scope: Unsupported value: "World": supported values: "*", "Cluster", "Namespaced"`}},
		{Obj: rule(`"operations":["*","CREATE","READ"],"apiGroups":["*","a"],"apiVersions":["*",""],"resources":["x"]`), Want: []string{
			`webhooks[0].rules[0].operations: Invalid value: ["*","CREATE","READ"]: if '*' is present, must not specify other operations`,
			`webhooks[0].rules[0].operations[2]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`,
			`webhooks[0].rules[0].apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other API groups`,
			`webhooks[0].rules[0].apiVersions: Invalid value: ["*",""]: if '*' is present, must not specify other API versions`, `webhooks[0].rules[0].apiVersions[1]: Required value`}},
		{Obj: rule(hookRule + `"resources":["a/*","a/b","*/c","d/c",""]`), Want: []string{`webhooks[0].rules[0].resources[1]: Invalid value: "a/b": if 'a/*' is present, must not specify a/b`,
			`webhooks[0].rules[0].resources[3]: Invalid value: "d/c": if '*/c' is present, must not specify d/c`, `webhooks[0].rules[0].resources[4]: Required value`}},
		{Obj: rule(hookRule + `"resources":["*/*","*","a"]`), Want: []string{`webhooks[0].rules[0].resources: Invalid value: ["*/*","*","a"]: if '*/*' is present, must not specify other resources`,
			`webhooks[0].rules[0].resources: Invalid value: ["*/*","*","a"]: if '*' is present, must not specify other resources without subresources`}},
	}
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		k := KindInGroup(t, meta.Platform, "admissionregistration.platform.io", kind)
		RunValidationCases(t, k, cases)
		RunValidationCases(t, k, []ValidationCase{{Obj: `{"metadata":{"name":"A"}}`, Want: []string{`metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain…`}}})
	}
	RunValidationCases(t, KindInGroup(t, meta.Platform, "admissionregistration.platform.io", "MutatingWebhookConfiguration"), []ValidationCase{
		{Obj: hooks(hookHead + `,` + hookURL + `,"reinvocationPolicy":"Often"`), Want: []string{`webhooks[0].reinvocationPolicy: Unsupported value: "Often": supported values: "IfNeeded", "Never"`}},
	})
}

func TestWebhookDefaults(t *testing.T) {
	k := KindInGroup(t, meta.Platform, "admissionregistration.platform.io", "MutatingWebhookConfiguration")
	obj := Parse(t, hooks(`"clientConfig":{"service":{"name":"a"}},"rules":[{}]`))
	rules.Default(k, obj)
	EqualJSON(t, "webhook", obj, `{"webhooks":[{"clientConfig":{"service":{"name":"a","path":"/","port":443}},"rules":[{"scope":"*"}],"failurePolicy":"Fail",
		"matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},"timeoutSeconds":10,"reinvocationPolicy":"Never"}]}`)
}

const (
	hookHead = `"name":"a.b.example","sideEffects":"None","admissionReviewVersions":["v1"]`
	hookURL  = `"clientConfig":{"url":"https://h/p"}`
	hookRule = `"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],`
)

func hooks(hook string) string { return `{"webhooks":[{` + hook + `}]}` }
