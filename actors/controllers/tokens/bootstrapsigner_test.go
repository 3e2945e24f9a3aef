package tokens

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
)

func TestSignatures(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	token := func(id string, change func(*bootstrapSecret)) bootstrapSecret {
		s := bootstrapSecret{BootstrapToken: authn.BootstrapToken{ID: id, Secret: "0123456789abcdef", UsageSigning: true}, valid: true}
		if change != nil {
			change(&s)
		}
		return s
	}
	all := []bootstrapSecret{
		token("aaaaaa", nil),
		token("bbbbbb", func(s *bootstrapSecret) { s.UsageSigning = false }),
		token("cccccc", func(s *bootstrapSecret) { s.Expiration = "2030-01-02T03:04:05Z" }),
		token("dddddd", func(s *bootstrapSecret) { s.valid = false }),
		token("eeeeee", func(s *bootstrapSecret) { s.Expiration = "2030-01-02T03:04:25Z" }),
	}
	first, err := signatures(meta.Platform, tree.Tree{"kubeconfig": "x", "jws-kubeconfig-bbbbbb": "old", "other": "y"}, all, now)
	if err != nil || len(first) != 3 || first["jws-kubeconfig-aaaaaa"] == nil || first["jws-kubeconfig-eeeeee"] == nil || first["jws-kubeconfig-bbbbbb"] != nil {
		t.Fatalf("%v, %v", first, err)
	}
	secret := must.Get(signatures(meta.Kubernetes, tree.Tree{"kubeconfig": "x"}, all[:1], now))(t)
	for key, got := range map[string]any{"aaaaaa.0123456789abcdef": first["jws-kubeconfig-aaaaaa"], "0123456789abcdef": secret["jws-kubeconfig-aaaaaa"]} {
		head, signature, _ := strings.Cut(fmt.Sprint(got), "..")
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(head + "." + base64URLText([]byte("x"))))
		if signature != base64URLText(mac.Sum(nil)) {
			t.Errorf("%v is not signed with %s", got, key)
		}
	}
	delete(first, "jws-kubeconfig-bbbbbb")
	first["kubeconfig"] = "x"
	if again, err := signatures(meta.Platform, first, all, now); err != nil || len(again) != 0 {
		t.Errorf("again: %v, %v", again, err)
	}
	delete(first, "kubeconfig")
	if none, err := signatures(meta.Platform, first, all, now); err != nil || len(none) != 2 || none["jws-kubeconfig-aaaaaa"] != nil {
		t.Errorf("without what is signed: %v, %v", none, err)
	}
	if next := nextExpiry(all, now); next != 20*time.Second {
		t.Errorf("the next token ends in %v", next)
	}
	if next := nextExpiry(all[:1], now); next != time.Hour {
		t.Errorf("no token ends, and the next look is in %v", next)
	}
}
