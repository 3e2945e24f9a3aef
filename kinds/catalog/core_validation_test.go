package catalog_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/internal/catalogtest"
	"github.com/troupe-api/troupe/kinds/meta"
)

func TestCoreValidation(t *testing.T) {
	catalogtest.RunBodyCases(t, catalogtest.CoreKind(t, meta.Platform, "ConfigMap"), []catalogtest.BodyCase{
		{Body: `{"binaryData":{"a b":"AA=="}}`, Want: []string{`binaryData[a b]: Invalid value: "a b": a valid config key…`}}})
	catalogtest.RunBodyCases(t, catalogtest.CoreKind(t, meta.Platform, "Namespace"), []catalogtest.BodyCase{
		{Body: `{"spec":{"finalizers":["a b/c"]}}`, Want: []string{`spec.finalizers: Invalid value: "a b/c": prefix part a lowercase RFC 1123 subdomain…`}}})
	catalogtest.RunBodyCases(t, catalogtest.CoreKind(t, meta.Platform, "LimitRange"), []catalogtest.BodyCase{
		{Body: `{"spec":{"limits":[{"type":"PersistentVolumeClaim","max":{"storage":"1","a b":"1"}}]}}`, Want: []string{`spec.limits[0].max[a b]: Invalid value: "a b": name part…`}}})
	const selector = `{"matchExpressions":[{"operator":"Exists","scopeName":"Terminating"},{"operator":"Exists","scopeName":"NotTerminating"}]}`
	const expressions = "spec.scopeSelector.matchExpressions: Invalid value: "
	catalogtest.RunBodyCases(t, catalogtest.CoreKind(t, meta.Platform, "ResourceQuota"), []catalogtest.BodyCase{
		{Body: `{"spec":{"hard":{"pods":"1"},"scopeSelector":` + selector + `}}`, Want: []string{expressions + "null: conflicting scopes"}},
		{Body: `{"spec":{"hard":{"secrets":"1"},"scopeSelector":{"matchExpressions":[{"operator":"Exists","scopeName":"Terminating"}]}}}`, Want: []string{
			expressions + `{"matchExpressions":[{"operator":"Exists","scopeName":"Terminating"}]}: unsupported scope applied to resource`}},
	})
}
