package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestServiceAccount(t *testing.T) {
	k := CoreKind(t, meta.Platform, "ServiceAccount")
	RunValidationCases(t, k, []ValidationCase{
		{Obj: `{}`},
		{Obj: `{"metadata":{"name":"a.b"},"secrets":[{"name":"s"},{"name":"s"}],"imagePullSecrets":[{"name":"i"}],"automountServiceAccountToken":false}`},
		{Obj: `{"metadata":{"name":"A"}}`, Want: []string{`metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain…`}},
		{Name: "all may change", Old: `{"secrets":[{"name":"s"}]}`, Obj: `{"automountServiceAccountToken":true}`},
	})
	if !k.Writes.DeleteReturnsObject || k.Writes.Generation || !k.Namespaced || len(k.Verbs) != 8 {
		t.Errorf("%+v", k)
	}
	if s := k.Subresource("token"); s == nil || s.BodyKind.Kind != "TokenRequest" || len(s.Verbs) != 1 || s.Verbs[0] != "create" {
		t.Errorf("sub-resource token: %+v", s)
	}
}
