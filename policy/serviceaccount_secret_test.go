package policy_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

func TestReadTokenSecret(t *testing.T) {
	secret := tree.Tree{
		"type": "kubernetes.io/service-account-token",
		"metadata": tree.Tree{"annotations": tree.Tree{
			"kubernetes.io/service-account.name": "a", "kubernetes.io/service-account.uid": "u",
		}},
		"data": tree.Tree{"token": "YWJj"},
	}
	s, ok := serviceaccount.NewSecretNames(meta.Kubernetes).Read(secret)
	if token, err := s.Token(); !ok || s.Account != "a" || s.UID != "u" || err != nil || string(token) != "abc" {
		t.Errorf("%v %+v %q %v", ok, s, token, err)
	}
	if _, ok := serviceaccount.NewSecretNames(meta.Platform).Read(secret); ok {
		t.Error("a type of another profile")
	}
	if s, ok := serviceaccount.NewSecretNames(meta.Kubernetes).Read(tree.Tree{"type": secret["type"]}); !ok || s.Account != "" || s.UID != "" || s.Data != nil {
		t.Errorf("an empty secret: %v %+v", ok, s)
	}
}
