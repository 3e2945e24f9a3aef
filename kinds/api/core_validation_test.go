package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestCoreValidation(t *testing.T) {
	RunBodyCases(t, CoreKind(t, meta.Platform, "ConfigMap"), []BodyCase{
		{Body: `{"binaryData":{"a b":"AA=="}}`, Want: []string{`binaryData[a b]: Invalid value: "a b": a valid config key…`}}})
	RunBodyCases(t, CoreKind(t, meta.Platform, "Namespace"), []BodyCase{
		{Body: `{"spec":{"finalizers":["a b/c"]}}`, Want: []string{`spec.finalizers: Invalid value: "a b/c": prefix part a lowercase RFC 1123 subdomain…`}}})
	RunBodyCases(t, CoreKind(t, meta.Platform, "LimitRange"), []BodyCase{
		{Body: `{"spec":{"limits":[{"type":"PersistentVolumeClaim","max":{"storage":"1","a b":"1"}}]}}`, Want: []string{`spec.limits[0].max[a b]: Invalid value: "a b": name part…`}}})
	const selector = `{"matchExpressions":[{"operator":"Exists","scopeName":"Terminating"},{"operator":"Exists","scopeName":"NotTerminating"}]}`
	const expressions = "spec.scopeSelector.matchExpressions: Invalid value: "
	RunBodyCases(t, CoreKind(t, meta.Platform, "ResourceQuota"), []BodyCase{
		{Body: `{"spec":{"hard":{"pods":"1"},"scopeSelector":` + selector + `}}`, Want: []string{expressions + "null: conflicting scopes"}},
		{Body: `{"spec":{"hard":{"secrets":"1"},"scopeSelector":{"matchExpressions":[{"operator":"Exists","scopeName":"Terminating"}]}}}`, Want: []string{
			expressions + `{"matchExpressions":[{"operator":"Exists","scopeName":"Terminating"}]}: unsupported scope applied to resource`}},
	})
}
