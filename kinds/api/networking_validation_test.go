package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

func TestNetworkValidation(t *testing.T) {
	RunValidationCases(t, KindInGroup(t, meta.Platform, "networking.platform.io", "Ingress"), []ValidationCase{
		{Obj: ingressWithPath(`"path":"/a","pathType":"Prefix","backend":{}`), Want: []string{"spec.rules[0].http.paths[0].backend: Invalid value: \"\": resource or service backend is required"}}})
	k := KindInGroup(t, meta.Platform, "networking.platform.io", "ServiceCIDR")
	obj := Named(k, Parse(t, `{"spec":{"cidrs":["10.0.0.0/24"]},"status":{"conditions":[{"type":"Ready","status":"True","reason":"","lastTransitionTime":"2020-01-01T00:00:00Z"}]}}`))
	Expect(t, "conditions", Lines(rules.Validate(k, obj)), nil)
}
