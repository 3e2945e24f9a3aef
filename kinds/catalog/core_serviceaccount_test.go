package catalog_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestServiceAccount(t *testing.T) {
	k := coreKind(t, meta.Platform, "ServiceAccount")
	runValidationCases(t, k, []validationCase{
		{obj: `{}`},
		{obj: `{"metadata":{"name":"a.b"},"secrets":[{"name":"s"},{"name":"s"}],"imagePullSecrets":[{"name":"i"}],"automountServiceAccountToken":false}`},
		{obj: `{"metadata":{"name":"A"}}`, want: []string{`metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain…`}},
		{name: "all may change", old: `{"secrets":[{"name":"s"}]}`, obj: `{"automountServiceAccountToken":true}`},
	})
	if !k.DeleteReturnsObject || k.Generation || !k.Namespaced || len(k.Verbs) != 8 {
		t.Errorf("%+v", k)
	}
	if s := k.Subresource("token"); s == nil || s.BodyKind.Kind != "TokenRequest" || len(s.Verbs) != 1 || s.Verbs[0] != "create" {
		t.Errorf("sub-resource token: %+v", s)
	}
}
