package catalog_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/internal/catalogtest"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

func TestNetworkValidation(t *testing.T) {
	catalogtest.RunValidationCases(t, catalogtest.KindInGroup(t, meta.Platform, "networking.platform.io", "Ingress"), []catalogtest.ValidationCase{
		{Obj: ingressWithPath(`"path":"/a","pathType":"Prefix","backend":{}`), Want: []string{"spec.rules[0].http.paths[0].backend: Invalid value: \"\": resource or service backend is required"}}})
	k := catalogtest.KindInGroup(t, meta.Platform, "networking.platform.io", "ServiceCIDR")
	obj := catalogtest.Named(k, catalogtest.Parse(t, `{"spec":{"cidrs":["10.0.0.0/24"]},"status":{"conditions":[{"type":"Ready","status":"True","reason":"","lastTransitionTime":"2020-01-01T00:00:00Z"}]}}`))
	catalogtest.Expect(t, "conditions", catalogtest.Lines(rules.Validate(k, obj)), nil)
}
