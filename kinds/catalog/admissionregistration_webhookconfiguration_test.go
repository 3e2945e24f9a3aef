package catalog_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

const (
	hookHead = `"name":"a.b.example","sideEffects":"None","admissionReviewVersions":["v1"]`
	hookURL  = `"clientConfig":{"url":"https://h/p"}`
	hookRule = `"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],`
)

func hooks(hook string) string { return `{"webhooks":[{` + hook + `}]}` }

func TestWebhook(t *testing.T) {
	rule := func(r string) string { return hooks(hookHead + `,` + hookURL + `,"rules":[{` + r + `}]`) }
	client := func(c string) string { return hooks(hookHead + `,"clientConfig":{` + c + `}`) }
	const required = "webhooks[0].clientConfig: Required value: exactly one of url or service is required"
	cases := []validationCase{
		{obj: `{}`},
		{obj: hooks(hookHead + `,` + hookURL)},
		{obj: `{"webhooks":[{` + hookHead + `,` + hookURL + `},{` + hookHead + `,` + hookURL + `}]}`, want: []string{`webhooks[1].name: Duplicate value: "a.b.example"`}},
		{obj: hooks(strings.Replace(hookHead, "a.b.example", "single", 1) + `,` + hookURL), want: []string{`webhooks[0].name: Invalid value: "single": should be a domain with at least three segments separated by dots`}},
		{obj: hooks(strings.Replace(hookHead, "a.b.example", "", 1) + `,` + hookURL), want: []string{`webhooks[0].name: Required value`}},
		{obj: hooks(strings.Replace(hookHead, "None", "Some", 1) + `,` + hookURL), want: []string{`webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`}},
		{obj: hooks(`"name":"a.b.c","admissionReviewVersions":["v1"],` + hookURL), want: []string{`webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun`}},
		{obj: hooks(`"name":"a.b.c","sideEffects":"None",` + hookURL), want: []string{`webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1`}},
		{obj: hooks(strings.Replace(hookHead, `"v1"`, `"v9","v9","V"`, 1) + `,` + hookURL), want: []string{
			`webhooks[0].admissionReviewVersions[1]: Invalid value: "v9": duplicate version`, `webhooks[0].admissionReviewVersions[2]: Invalid value: "V": a DNS-1035 label…`,
			`webhooks[0].admissionReviewVersions: Invalid value: ["v9","v9","V"]: must include at least one of v1, v1beta1`}},
		{obj: hooks(hookHead + `,` + hookURL + `,"timeoutSeconds":30`)},
		{obj: hooks(hookHead + `,` + hookURL + `,"timeoutSeconds":31`), want: []string{`webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds`}},
		{obj: hooks(hookHead + `,` + hookURL + `,"timeoutSeconds":0`), want: []string{`webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds`}},
		{obj: hooks(hookHead + `,` + hookURL + `,"failurePolicy":"Shrug","matchPolicy":"Near"`), want: []string{
			`webhooks[0].failurePolicy: Unsupported value: "Shrug": supported values: "Fail", "Ignore"`, `webhooks[0].matchPolicy: Unsupported value: "Near": supported values: "Equivalent", "Exact"`}},
		{obj: hooks(hookHead + `,` + hookURL + `,"objectSelector":{"matchLabels":{"a b":""}},"namespaceSelector":{"matchLabels":{"a":"b c"}}`), want: []string{
			`webhooks[0].namespaceSelector.matchLabels: Invalid value: "b c": a valid label…`, `webhooks[0].objectSelector.matchLabels: Invalid value: "a b": name part…`}},
		{obj: hooks(hookHead + `,` + hookURL + `,"matchConditions":[{"name":"a","expression":" "},{"name":"a","expression":"true"},{"expression":"true"}]`), want: []string{
			`webhooks[0].matchConditions[1].name: Duplicate value: "a"`, `webhooks[0].matchConditions[0].expression: Required value`, `webhooks[0].matchConditions[2].name: Required value`}},
		{obj: client(``), want: []string{required}},
		{obj: client(`"url":"https://h","service":{"name":"a","namespace":"b"}`), want: []string{required}},
		{obj: client(`"url":"http://h/p"`), want: []string{`webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`}},
		{obj: client(`"url":"https:///p"`), want: []string{`webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]`}},
		{obj: client(`"url":"https://u:p@h/p?q=1#f"`), want: []string{`webhooks[0].clientConfig.url: Invalid value: "<user information>": user information is not permitted in the URL`,
			`webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL`, `webhooks[0].clientConfig.url: Invalid value: "q=1": query parameters are not permitted in the URL`}},
		{obj: client(`"service":{"name":"a","namespace":"b","path":"/x/y/"}`)},
		{obj: client(`"service":{"port":0,"path":"x"}`), want: []string{`webhooks[0].clientConfig.service.name: Required value: service name is required`,
			`webhooks[0].clientConfig.service.namespace: Required value: service namespace is required`,
			`webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive`,
			`webhooks[0].clientConfig.service.path: Invalid value: "x": must start with a '/'`}},
		{obj: client(`"service":{"name":"a","namespace":"b","path":"/x//A"}`), want: []string{`webhooks[0].clientConfig.service.path: Invalid value: "/x//A": segment[1] may not be empty`,
			`webhooks[0].clientConfig.service.path: Invalid value: "/x//A": segment[2]: a lowercase RFC 1123 subdomain…`}},
		{obj: rule(``), want: []string{`webhooks[0].rules[0].operations: Required value`, `webhooks[0].rules[0].apiGroups: Required value`,
			`webhooks[0].rules[0].apiVersions: Required value`, `webhooks[0].rules[0].resources: Required value`}},
		{obj: rule(hookRule + `"resources":["pods","pods/status","*/scale"],"scope":"Namespaced"`)},
		{obj: rule(hookRule + `"resources":["pods"],"scope":"World"`), want: []string{`webhooks[0].rules[0].scope: Unsupported value: "World": supported values: "*", "Cluster", "Namespaced"`}},
		{obj: rule(`"operations":["*","CREATE","READ"],"apiGroups":["*","a"],"apiVersions":["*",""],"resources":["x"]`), want: []string{
			`webhooks[0].rules[0].operations: Invalid value: ["*","CREATE","READ"]: if '*' is present, must not specify other operations`,
			`webhooks[0].rules[0].operations[2]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`,
			`webhooks[0].rules[0].apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other API groups`,
			`webhooks[0].rules[0].apiVersions: Invalid value: ["*",""]: if '*' is present, must not specify other API versions`, `webhooks[0].rules[0].apiVersions[1]: Required value`}},
		{obj: rule(hookRule + `"resources":["a/*","a/b","*/c","d/c",""]`), want: []string{`webhooks[0].rules[0].resources[1]: Invalid value: "a/b": if 'a/*' is present, must not specify a/b`,
			`webhooks[0].rules[0].resources[3]: Invalid value: "d/c": if '*/c' is present, must not specify d/c`, `webhooks[0].rules[0].resources[4]: Required value`}},
		{obj: rule(hookRule + `"resources":["*/*","*","a"]`), want: []string{`webhooks[0].rules[0].resources: Invalid value: ["*/*","*","a"]: if '*/*' is present, must not specify other resources`,
			`webhooks[0].rules[0].resources: Invalid value: ["*/*","*","a"]: if '*' is present, must not specify other resources without subresources`}},
	}
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		k := kindInGroup(t, meta.Platform, "admissionregistration.platform.io", kind)
		runValidationCases(t, k, cases)
		runValidationCases(t, k, []validationCase{{obj: `{"metadata":{"name":"A"}}`, want: []string{`metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain…`}}})
	}
	runValidationCases(t, kindInGroup(t, meta.Platform, "admissionregistration.platform.io", "MutatingWebhookConfiguration"), []validationCase{
		{obj: hooks(hookHead + `,` + hookURL + `,"reinvocationPolicy":"Often"`), want: []string{`webhooks[0].reinvocationPolicy: Unsupported value: "Often": supported values: "IfNeeded", "Never"`}},
	})
}

func TestWebhookDefaults(t *testing.T) {
	k := kindInGroup(t, meta.Platform, "admissionregistration.platform.io", "MutatingWebhookConfiguration")
	obj := parseTree(t, hooks(`"clientConfig":{"service":{"name":"a"}},"rules":[{}]`))
	rules.Default(k, obj)
	equalJSON(t, "webhook", obj, `{"webhooks":[{"clientConfig":{"service":{"name":"a","path":"/","port":443}},"rules":[{"scope":"*"}],"failurePolicy":"Fail",
		"matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},"timeoutSeconds":10,"reinvocationPolicy":"Never"}]}`)
}
