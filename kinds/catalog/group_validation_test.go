package catalog_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestCoreValidation(t *testing.T) {
	runBodyCases(t, coreKind(t, meta.Platform, "ConfigMap"), []bodyCase{
		{`{"binaryData":{"a b":"AA=="}}`, []string{`binaryData[a b]: Invalid value: "a b": a valid config key…`}}})
	runBodyCases(t, coreKind(t, meta.Platform, "Namespace"), []bodyCase{
		{`{"spec":{"finalizers":["a b/c"]}}`, []string{`spec.finalizers: Invalid value: "a b/c": prefix part a lowercase RFC 1123 subdomain…`}}})
	runBodyCases(t, coreKind(t, meta.Platform, "LimitRange"), []bodyCase{
		{`{"spec":{"limits":[{"type":"PersistentVolumeClaim","max":{"storage":"1","a b":"1"}}]}}`, []string{`spec.limits[0].max[a b]: Invalid value: "a b": name part…`}}})
	const selector = `{"matchExpressions":[{"operator":"Exists","scopeName":"Terminating"},{"operator":"Exists","scopeName":"NotTerminating"}]}`
	const expressions = "spec.scopeSelector.matchExpressions: Invalid value: "
	runBodyCases(t, coreKind(t, meta.Platform, "ResourceQuota"), []bodyCase{
		{`{"spec":{"hard":{"pods":"1"},"scopeSelector":` + selector + `}}`, []string{expressions + "null: conflicting scopes"}},
		{`{"spec":{"hard":{"secrets":"1"},"scopeSelector":{"matchExpressions":[{"operator":"Exists","scopeName":"Terminating"}]}}}`, []string{
			expressions + `{"matchExpressions":[{"operator":"Exists","scopeName":"Terminating"}]}: unsupported scope applied to resource`}},
	})
	runCreateCases(t, kindByGVK(t, meta.Platform, "coordination.platform.io", "v1", "Lease"), ``, []createCase{
		{"strategy", `"strategy":"a b/c"`, []string{`spec.strategy: Invalid value: "a b/c": prefix part a lowercase RFC 1123 subdomain…`}}})
}

func TestServiceValidation(t *testing.T) {
	var faults schema.Faults
	catalog.ValidateServiceClusterIPs(parseTree(t, `{"clusterIP":"10.0.0.1"}`), &faults)
	expect(t, "clusterIP alone", lines(faults.List), []string{"spec.clusterIPs: Required value"})

	k := coreKind(t, meta.Platform, "Service")
	obj := named(k, parseTree(t, `{"spec":{`+onePort+`}}`))
	create(k, obj)
	obj["status"] = parseTree(t, `{"conditions":[{"type":"A","status":"True","reason":"`+strings.Repeat("R", 1025)+`","lastTransitionTime":"2020-01-01T00:00:00Z"}]}`)
	expect(t, "reason", lines(rules.Validate(k, obj)), []string{"status.conditions[0].reason: Too long: may not be more than 1024 bytes"})

	runSpecUpdateCases(t, k, onePort, []specUpdateCase{
		{"no families", `"clusterIP":"10.0.0.5","clusterIPs":["10.0.0.5"],"ipFamilies":["IPv4"]`, `"ipFamilies":null`, []string{`spec.ipFamilies[0]: Invalid value: null: primary ipFamily can not be unset`}},
	})
}

func TestNetworkValidation(t *testing.T) {
	runValidationCases(t, kindInGroup(t, meta.Platform, "networking.platform.io", "Ingress"), []validationCase{
		{obj: ingressWithPath(`"path":"/a","pathType":"Prefix","backend":{}`), want: []string{"spec.rules[0].http.paths[0].backend: Invalid value: \"\": resource or service backend is required"}}})
	k := kindInGroup(t, meta.Platform, "networking.platform.io", "ServiceCIDR")
	obj := named(k, parseTree(t, `{"spec":{"cidrs":["10.0.0.0/24"]},"status":{"conditions":[{"type":"Ready","status":"True","reason":"","lastTransitionTime":"2020-01-01T00:00:00Z"}]}}`))
	expect(t, "conditions", lines(rules.Validate(k, obj)), []string{"status.conditions[0].reason: Required value: must be set"})
	runBodyCases(t, kindByGVK(t, meta.Platform, "node.platform.io", "v1", "RuntimeClass"), []bodyCase{
		{`{"handler":"r","scheduling":{"tolerations":[{"value":"a"}]}}`, []string{
			"scheduling.tolerations[0].operator: Invalid value: \"\": operator must be Exists when `key` is empty, which means \"match all values and all keys\""}}})
}

func TestStorageValidation(t *testing.T) {
	runBodyCases(t, kindByGVK(t, meta.Platform, storageGroup, "v1", "VolumeAttributesClass"), []bodyCase{
		{`{"driverName":"a","parameters":{"":"b"}}`, []string{`parameters: Invalid value: "": field can not be empty.`}}})
	k := kindByGVK(t, meta.Platform, storageGroup, "v1", "VolumeAttachment")
	obj := named(k, parseTree(t, `{"spec":{"attacher":"a_b","nodeName":"n","source":{"persistentVolumeName":"v"}}}`))
	obj["status"] = tree.Tree{"attached": true, "attachmentMetadata": tree.Tree{"a": strings.Repeat("x", 256<<10)}}
	expect(t, "attachment", lines(rules.Validate(k, obj)), []string{`spec.attacher: Invalid value: "a_b": a lowercase RFC 1123 subdomain…`, "status.attachmentMetadata: Too long: may not be more than 262144 bytes"})
	runBodyCases(t, coreKind(t, meta.Platform, "PersistentVolume"), []bodyCase{
		{volume(csiVolume + `,"volumeAttributesClassName":"A"`), []string{`spec.volumeAttributesClassName: Invalid value: "A": a lowercase RFC 1123 subdomain…`}},
		{volume(`"glusterfs":{"endpoints":"e","path":"p","endpointsNamespace":"A"}`), []string{`spec.glusterfs.endpointsNamespace: Invalid value: "A": a lowercase RFC 1123 label…`}}})
	claims := coreKind(t, meta.Platform, "PersistentVolumeClaim")
	const source = `{"kind":"PersistentVolumeClaim","name":"a"}`
	old := named(claims, parseTree(t, boundClaim(`,"volumeMode":"Filesystem","dataSource":`+source+`,"dataSourceRef":`+source, ``)))
	now := named(claims, parseTree(t, claim(`,"dataSource":`+source+`,"dataSourceRef":{"kind":"PersistentVolumeClaim","name":"a","namespace":"B"}`)))
	expect(t, "source of another namespace", update(claims, now, old), []string{`spec.dataSourceRef.namespace: Invalid value: "B": a lowercase RFC 1123 label…`,
		`spec: Invalid value: ` + source + `: may not be specified when dataSourceRef.namespace is specified`, `spec: Forbidden: spec is immutable after creation…`})
}

func TestDeviceValidation(t *testing.T) {
	const at = "spec.devices.requests"
	devices := func(text string) string { return `{"spec":{"devices":{"requests":[` + text + `]}}}` }
	runBodyCases(t, kindByGVK(t, meta.Platform, deviceGroup, "v1", "ResourceClaim"), []bodyCase{
		{devices(`{"name":"a","exactly":{"deviceClassName":"c","tolerations":[{"key":"a b"},{"key":"a","value":"b c"}]}}`), []string{
			at + `[0].exactly.tolerations[0].key: Invalid value: "a b": name part…`, at + `[0].exactly.tolerations[1].value: Invalid value: "b c": a valid label…`}},
		{devices(`{"name":"a","firstAvailable":[{"name":"x","deviceClassName":"c","count":-1}]}`), []string{at + `[0].firstAvailable[0].count: Invalid value: -1: must be greater than zero`}}})
	slice := func(text string) string {
		return `{"spec":{"driver":"d.e","pool":{"name":"a","resourceSliceCount":1},` + text + `}}`
	}
	runBodyCases(t, kindByGVK(t, meta.Platform, deviceGroup, "v1", "ResourceSlice"), []bodyCase{
		{slice(`"nodeSelector":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a b","operator":"Exists"}]}]}`), []string{
			`spec.nodeSelector.nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "a b": name part…`}},
		{slice(`"nodeName":"n","devices":[{"name":"a","taints":[{"key":"a","value":"b c","effect":"None"}]}]`), []string{`spec.devices[0].taints[0].value: Invalid value: "b c": a valid label…`}}})
}

func TestAdmissionPolicyValidation(t *testing.T) {
	const group = "admissionregistration.platform.io"
	const badSelectors = `"namespaceSelector":{"matchLabels":{"a b":""}},"objectSelector":{"matchLabels":{"a":"b c"}}`
	faults := func(path string) []string {
		return []string{path + `.namespaceSelector.matchLabels: Invalid value: "a b": name part…`, path + `.objectSelector.matchLabels: Invalid value: "b c": a valid label…`}
	}
	const match = `"matchConstraints":{"resourceRules":[{` + hookRule + `"resources":["pods"]}]`
	const valid = `"validations":[{"expression":"true"}]`
	runValidationCases(t, kindInGroup(t, meta.Platform, group, "ValidatingAdmissionPolicy"), []validationCase{
		{obj: `{"spec":{` + match + `,` + badSelectors + `},` + valid + `}}`, want: faults("spec.matchConstraints")},
		{obj: `{"spec":{` + match + `},` + valid + `,"paramKind":{"apiVersion":"A/v1","kind":"K"}}}`, want: []string{`spec.paramKind.apiVersion: Invalid value: "A/v1": a lowercase RFC 1123 subdomain…`}},
		{obj: `{"spec":{` + match + `},` + valid + `,"paramKind":{"apiVersion":"a.b/V","kind":"K"}}}`, want: []string{`spec.paramKind.apiVersion: Invalid value: "a.b/V": a DNS-1035 label…`}},
		{obj: `{"spec":{` + match + `},"auditAnnotations":[` + auditAnnotations(21) + `]}}`, want: []string{`spec.auditAnnotations: Too many: 21: must have at most 20 items`}},
	})
	const head = `"policyName":"p","validationActions":["Deny"]`
	runValidationCases(t, kindInGroup(t, meta.Platform, group, "ValidatingAdmissionPolicyBinding"), []validationCase{
		{obj: `{"spec":{` + head + `,"matchResources":{` + badSelectors + `}}}`, want: faults("spec.matchResources")},
		{obj: `{"spec":{` + head + `,"paramRef":{"selector":{"matchLabels":{"a b":""}},"parameterNotFoundAction":"Deny"}}}`, want: []string{`spec.paramRef.selector.matchLabels: Invalid value: "a b": name part…`}},
	})
	runValidationCases(t, kindInGroup(t, meta.Platform, group, "ValidatingWebhookConfiguration"), []validationCase{
		{obj: hooks(strings.Replace(hookHead, "a.b.example", "A.b.c", 1) + `,` + hookURL), want: []string{`webhooks[0].name: Invalid value: "A.b.c": a lowercase RFC 1123 subdomain…`}},
		{obj: hooks(hookHead + `,` + hookURL + `,"matchConditions":[{"name":"a b","expression":"true"}]`), want: []string{`webhooks[0].matchConditions[0].name: Invalid value: "a b": name part…`}},
		{obj: hooks(hookHead + `,"clientConfig":{"url":"https://[h"}`), want: []string{`webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "https://[h": missing ']' in host; desired format: https://host[/path]`}},
		{obj: hooks(hookHead + `,"clientConfig":{"service":{"name":"a","namespace":"b","path":"//"}}`), want: []string{`webhooks[0].clientConfig.service.path: Invalid value: "//": segment[0] may not be empty`}},
	})
}

func auditAnnotations(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = `{"key":"` + strings.Repeat("k", i+1) + `","valueExpression":"'a'"}`
	}
	return strings.Join(all, ",")
}

func TestDefinitionValidation(t *testing.T) {
	const at = "spec.validation.openAPIV3Schema"
	upper := strings.ReplaceAll(definition("", v1), "a.example", "A.example")
	runValidationCases(t, definitions(t, meta.Platform), []validationCase{
		{obj: upper, want: []string{`metadata.name: Invalid value: "widgets.A.example": a lowercase RFC 1123 subdomain…`, `spec.group: Invalid value: "A.example": a lowercase RFC 1123 subdomain…`}},
		{obj: definition(`,"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{},"conversionReviewVersions":["v1"]}}`, v1), want: []string{
			`spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required`}},
		{obj: root(`{"type":"array","items":{"type":"string"}}`, `"subresources":{"status":{}}`), want: []string{
			at + `.type: Invalid value: "array": only "object" is allowed as the type at the root of the schema if the status subresource is enabled`, at + `.type: Invalid value: "array": must be object at the root`}},
		{obj: schemaOf(`{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["k"],"items":[{"type":"object"}]}`), want: atX(
			`.items: Forbidden: items must be a schema object and not an array`, `.items: Invalid value: [{"type":"object"}]: must only have a single schema if x-platform-list-type is map`)},
		{obj: schemaOf(`{"x-platform-preserve-unknown-fields":true,"x-platform-list-type":"atomic"}`), want: atX(`.type: Required value: must be array if x-platform-list-type is specified`)},
		{obj: schemaOf(`{"type":"string","x-platform-embedded-resource":true,"x-platform-preserve-unknown-fields":true}`), want: atX(`.type: Invalid value: "string": must be object if x-platform-embedded-resource is true`)},
		{obj: schemaOf(`{"type":"object","x-platform-embedded-resource":true,"x-platform-preserve-unknown-fields":true,"additionalProperties":{"type":"string"}}`), want: atX(
			`.additionalProperties: Forbidden: must not be used if x-platform-embedded-resource is set`)},
		{obj: schemaOf(`{"type":"object","additionalProperties":{"type":"file"}}`), want: atX(`.additionalProperties.type: Unsupported value: "file": supported values: "array", "boolean"…`)},
		{obj: schemaOf(`{"type":"object","anyOf":[{"id":"a"}]}`), want: atX(`.anyOf[0].id: Forbidden: id is not supported`)},
		{obj: schemaOf(`{"x-platform-int-or-string":true,"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]}]}`)},
		{obj: schemaOf(`{"x-platform-int-or-string":true,"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}],"title":"t"}]}`), want: atX(`.allOf[0].title: Forbidden: must be empty to be structural`)},
		{obj: schemaOf(`{"type":"string","allOf":[{"anyOf":[{"type":"string"}]}]}`), want: atX(`.allOf[0].anyOf[0].type: Forbidden: must be empty to be structural`)},
		{obj: schemaOf(`{"type":"object","not":{"properties":{"b":{"minLength":1}}}}`), want: atX(
			`.properties[b]: Required value: because it is defined in spec.validation.openAPIV3Schema.properties[x].not.properties[b]`)},
		{obj: schemaOf(`{"type":"object","allOf":[{"anyOf":[{"properties":{"b":{"minLength":1}}}]}]}`), want: atX(
			`.properties[b]: Required value: because it is defined in spec.validation.openAPIV3Schema.properties[x].allOf[0].anyOf[0].properties[b]`)},
	})
}

// TestWarningWithInvalidUTF8: JSON cannot hold such a text, the other forms can.
func TestWarningWithInvalidUTF8(t *testing.T) {
	k := definitions(t, meta.Platform)
	obj := named(k, parseTree(t, version(`"deprecated":true`)))
	obj.Object("spec").Objects("versions")[0]["deprecationWarning"] = "a\xff"
	expect(t, "warning", create(k, obj), []string{`spec.versions[0].deprecationWarning: Invalid value: "a\xff": must only contain printable UTF-8 characters`})
}

func TestReviewValidation(t *testing.T) {
	var faults schema.Faults
	kindInGroup(t, meta.Platform, "authorization.platform.io", "LocalSubjectAccessReview").Rules.Validate(parseTree(t, `{"metadata":{"namespace":"ns"},"spec":{}}`), &faults)
	expect(t, "local", lines(faults.List), []string{`spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified`,
		`spec.user: Invalid value: "": at least one of user or group must be specified`})
}
