package controllers

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

func (w *testStore) waitFor(resource string, right func(e reconcile.Event) bool) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	found := false
	(&reconcile.Informer{Client: w.env().ClientOf(w.kind(resource)), On: func(e reconcile.Event) {
		if !found && right(e) {
			found = true
			cancel()
		}
	}}).Run(ctx)
}

// waitNotFound polls until there is no object at path, because a deletion may cause no event.
func (w *testStore) waitNotFound(path string) {
	w.t.Helper()
	if !poll(func() bool { return w.get(path) == nil }) {
		w.t.Fatalf("%s does not go", path)
	}
}

func (w *testStore) storedTree(path string) tree.Tree {
	w.t.Helper()
	k, _ := w.key(path)
	return must.Get(codec.DecodeStored(k.Message(), w.get(path).JSON))(w.t)
}

func (w *testStore) patch(path, patch string) {
	w.t.Helper()
	w.mutate(path, request.Mutation{Change: request.Patch{Type: request.MergePatch, Body: []byte(patch)}})
}

func runControllers(all ...interface{ Run(context.Context) }) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	for _, c := range all {
		wait.Go(func() { c.Run(ctx) })
	}
	return func() { cancel(); wait.Wait() }
}

var discardLogger = slog.New(slog.DiscardHandler)

func (w *testStore) tokens(trust string) *Tokens {
	w.t.Helper()
	text := must.Get(serviceaccount.NewKey())(w.t)
	keys := must.Get(serviceaccount.ReadKeys(text))(w.t)
	issuer := must.Get(serviceaccount.NewIssuer(meta.Platform, "https://i", keys[0]))(w.t)
	return NewTokens(w.env(), issuer, func() []byte { return []byte(trust) })
}

func (w *testStore) tokenSecret(name string) {
	w.t.Helper()
	w.make("Secret", `{"metadata":{"name":"`+name+`","annotations":{"platform.io/service-account.name":"robot"}},"type":"platform.io/service-account-token"}`)
}

func hasToken(e reconcile.Event) bool {
	return !e.Deleted && strings.Contains(string(e.JSON), `"token":"`)
}

// TestTokenSecrets checks that an account gets a token Secret, and that a deleted token Secret is
// replaced. A Secret without an account is deleted.
func TestTokenSecrets(t *testing.T) {
	w := newTestStore(t)
	defer runControllers(w.tokens("one"), NewTokenSecrets(w.env()))()
	w.create("serviceaccounts/default/robot")
	var first string
	named := func(other string) func(reconcile.Event) bool {
		return func(e reconcile.Event) bool {
			object, err := codec.DecodeStored(w.kind("serviceaccounts").Message(), e.JSON)
			secrets := object.Objects("secrets")
			if e.Deleted || err != nil || len(secrets) != 1 || secrets[0].String("name") == other {
				return false
			}
			first = secrets[0].String("name")
			return true
		}
	}
	w.waitFor("serviceaccounts", named(""))
	w.waitFor("secrets", hasToken)
	gone := first
	w.delete("secrets/default/" + gone)
	w.waitFor("serviceaccounts", named(gone))
	w.waitFor("secrets", func(e reconcile.Event) bool { return e.Key.Name == first && hasToken(e) })
	if !strings.HasPrefix(first, "robot-token-") {
		t.Errorf("the secret is called %s", first)
	}
	w.delete("serviceaccounts/default/robot")
	w.waitNotFound("secrets/default/" + first)
}

// TestTokensRepair checks that missing data is restored. A Secret with a different account UID is
// deleted.
func TestTokensRepair(t *testing.T) {
	w := newTestStore(t)
	account := w.create("serviceaccounts/default/robot")
	secret := func(name, more string) {
		w.mutate("secrets/default/"+name, request.Mutation{Change: request.Create{Object: tree.Tree{
			"metadata": tree.Tree{"name": name, "annotations": tree.Tree{"platform.io/service-account.name": "robot", "platform.io/service-account.uid": more}},
			"type":     "platform.io/service-account-token",
		}}})
	}
	secret("new", "")
	secret("stale", "another life")
	stop := runControllers(w.tokens("one"))
	w.waitFor("secrets", hasToken)
	w.waitNotFound("secrets/default/stale")
	object := w.storedTree("secrets/default/new")
	token := object.Object("data").String("token")
	if uid := object.Object("metadata", "annotations").String("platform.io/service-account.uid"); uid != account.Meta.UID {
		t.Errorf("the secret is that of %q, want %s", uid, account.Meta.UID)
	}
	stop()
	defer runControllers(w.tokens("two"))() // after a change of the CA
	w.waitFor("secrets", func(e reconcile.Event) bool { return strings.Contains(string(e.JSON), base64Text([]byte("two"))) })
	if now := w.storedTree("secrets/default/new").Object("data").String("token"); now != token {
		t.Error("a change of the CA changed the token")
	}
	w.patch("secrets/default/new", `{"data":{"namespace":null}}`)
	w.waitFor("secrets", func(e reconcile.Event) bool {
		return strings.Contains(string(e.JSON), base64Text([]byte("default")))
	})
}

// TestDefaultAccounts checks that every namespace gets a default account unless it is terminating.
func TestDefaultAccounts(t *testing.T) {
	w := newTestStore(t)
	defer runControllers(NewServiceAccounts(w.env()))()
	for _, ns := range []string{"default", "platform-system", "platform-public", "platform-node-lease"} {
		w.waitFor("serviceaccounts", func(e reconcile.Event) bool { return !e.Deleted && e.Key.Namespace == ns && e.Key.Name == "default" })
	}
	before := w.get("serviceaccounts/default/default").Meta.UID
	w.delete("serviceaccounts/default/default")
	w.waitFor("serviceaccounts", func(e reconcile.Event) bool {
		return !e.Deleted && e.Key.Namespace == "default" && e.Meta.UID != before
	})
	s := NewServiceAccounts(w.env())
	if err := s.ensure(context.Background(), "nowhere"); err != nil || w.get("serviceaccounts/nowhere/default") != nil {
		t.Errorf("an account of no namespace: %v", err)
	}
	w.create("namespaces/ends", "test/hold")
	w.waitFor("serviceaccounts", func(e reconcile.Event) bool { return !e.Deleted && e.Key.Namespace == "ends" })
	w.delete("namespaces/ends")
	w.delete("serviceaccounts/ends/default")
	if err := s.ensure(context.Background(), "ends"); err != nil || w.get("serviceaccounts/ends/default") != nil {
		t.Errorf("an account of a namespace that ends: %v", err)
	}
}

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
