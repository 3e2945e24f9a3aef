package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func TestTokenRequest(t *testing.T) {
	k := KindInGroup(t, meta.Platform, "authentication.platform.io", "TokenRequest")
	for _, c := range []ValidationCase{
		{Obj: `{"spec":{"audiences":["a"],"expirationSeconds":600}}`},
		{Obj: `{"spec":{"expirationSeconds":599}}`, Want: []string{`spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes`}},
		{Obj: `{"spec":{"expirationSeconds":4294967297}}`, Want: []string{`spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds`}},
	} {
		var faults schema.Faults
		rules.ValidateRules(k, Parse(t, c.Obj), nil, &faults)
		Expect(t, c.Obj, Lines(faults.List), c.Want)
	}
}
