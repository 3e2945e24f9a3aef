package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func TestReviews(t *testing.T) {
	const pods = `"resourceAttributes":{"verb":"get","resource":"pods","namespace":"ns"}`
	const both = `"resourceAttributes":{"verb":"get"},"nonResourceAttributes":{"path":"/","verb":"get"}`
	const none = `spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified`
	selector := func(s string) string { return `{"spec":{"resourceAttributes":{"labelSelector":` + s + `}}}` }
	for _, c := range []struct {
		kind, obj string
		want      []string
	}{
		{"SubjectAccessReview", `{"metadata":{},"spec":{"user":"u",` + pods + `}}`, nil},
		{"SubjectAccessReview", `{"spec":{"groups":["g"],` + pods + `}}`, nil},
		{"SubjectAccessReview", `{"spec":{}}`, []string{none, `spec.user: Invalid value: "": at least one of user or group must be specified`}},
		{"SubjectAccessReview", `{"metadata":{"name":"x"},"spec":{"user":"u",` + both + `}}`, []string{
			`spec.nonResourceAttributes: Invalid value: {"path":"/","verb":"get"}: cannot be specified in combination with resourceAttributes`, `metadata: Invalid value: {"name":"x"}: must be empty`}},
		{"SelfSubjectAccessReview", `{"spec":{` + pods + `}}`, nil},
		{"SelfSubjectAccessReview", `{"metadata":{"labels":{"a":"b"}}}`, []string{none, `metadata: Invalid value: {"labels":{"a":"b"}}: must be empty`}},
		{"SelfSubjectAccessReview", selector(`{"rawSelector":"a=b"}`), nil},
		{"SelfSubjectAccessReview", selector(`{"requirements":[{"key":"a","operator":"Near"}]}`), nil},
		{"SelfSubjectAccessReview", selector(`{}`), []string{`spec.resourceAttributes.labelSelector.requirements: Required value: when spec.resourceAttributes.labelSelector is specified, requirements or rawSelector is required`}},
		{"SelfSubjectAccessReview", selector(`{"rawSelector":"a","requirements":[{"operator":"In"},{"key":"b","operator":"Exists","values":["c"]}]}`), []string{
			`spec.resourceAttributes.labelSelector.rawSelector: Invalid value: "a": may not specified at the same time as requirements`,
			`spec.resourceAttributes.labelSelector.requirements[0].key: Required value`,
			"spec.resourceAttributes.labelSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
			"spec.resourceAttributes.labelSelector.requirements[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"}},
		{"LocalSubjectAccessReview", `{"metadata":{"namespace":"ns"},"spec":{"user":"u",` + pods + `}}`, nil},
		{"LocalSubjectAccessReview", `{"metadata":{"namespace":"other","name":"x"},"spec":{"user":"u",` + pods + `}}`, []string{
			`metadata: Invalid value: {"name":"x","namespace":"other"}: must be empty except for namespace`, `spec.resourceAttributes.namespace: Invalid value: "ns": must match metadata.namespace`}},
		{"LocalSubjectAccessReview", `{"metadata":{"namespace":"ns"},"spec":{"user":"u","nonResourceAttributes":{}}}`, []string{`spec.nonResourceAttributes: Invalid value: {}: disallowed on this kind of request`}},
	} {
		var faults schema.Faults
		rules.ValidateRules(KindInGroup(t, meta.Platform, "authorization.platform.io", c.kind), Parse(t, c.obj), nil, &faults)
		Expect(t, c.kind+" "+c.obj, Lines(faults.List), c.want)
	}
}

func TestReviewValidation(t *testing.T) {
	var faults schema.Faults
	rules.ValidateRules(KindInGroup(t, meta.Platform, "authorization.platform.io", "LocalSubjectAccessReview"), Parse(t, `{"metadata":{"namespace":"ns"},"spec":{}}`), nil, &faults)
	Expect(t, "local", Lines(faults.List), []string{`spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified`,
		`spec.user: Invalid value: "": at least one of user or group must be specified`})
}
