package controllers

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/tokens"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

func newSecretFiller(t *testing.T, env *Env, trust string) *tokens.SecretFiller {
	t.Helper()
	text := must.Get(serviceaccount.NewKey())(t)
	keys := must.Get(serviceaccount.ReadKeys(text))(t)
	issuer := must.Get(serviceaccount.NewIssuer(meta.Platform, "https://i", keys[0]))(t)
	return tokens.NewSecretFiller(env, issuer, func() []byte { return []byte(trust) })
}

func (w *testStore) tokenSecret(name string) {
	w.t.Helper()
	w.make("Secret", `{"metadata":{"name":"`+name+`","annotations":{"platform.io/service-account.name":"robot"}},"type":"platform.io/service-account-token"}`)
}

func hasToken(e reconcile.Event) bool {
	return !e.Deleted && strings.Contains(string(e.JSON), `"token":"`)
}

func TestTokenSecrets(t *testing.T) {
	w := newTestStore(t)
	defer runControllers(newSecretFiller(t, w.env(), "one"), tokens.NewSecretCreator(w.env()))()
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
	stop := runControllers(newSecretFiller(t, w.env(), "one"))
	w.waitFor("secrets", hasToken)
	w.waitNotFound("secrets/default/stale")
	object := w.storedTree("secrets/default/new")
	token := object.Object("data").String("token")
	if uid := object.Object("metadata", "annotations").String("platform.io/service-account.uid"); uid != account.Meta.UID {
		t.Errorf("the secret is that of %q, want %s", uid, account.Meta.UID)
	}
	stop()
	defer runControllers(newSecretFiller(t, w.env(), "two"))() // after a change of the CA
	w.waitFor("secrets", func(e reconcile.Event) bool {
		return strings.Contains(string(e.JSON), base64.StdEncoding.EncodeToString([]byte("two")))
	})
	if now := w.storedTree("secrets/default/new").Object("data").String("token"); now != token {
		t.Error("a change of the CA changed the token")
	}
	w.patch("secrets/default/new", `{"data":{"namespace":null}}`)
	w.waitFor("secrets", func(e reconcile.Event) bool {
		return strings.Contains(string(e.JSON), base64.StdEncoding.EncodeToString([]byte("default")))
	})
}

func TestDefaultAccounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestStore(t)
		w.create("namespaces/ends", "test/hold")
		w.create("namespaces/gone")
		var log bytes.Buffer
		stop := runControllers(tokens.NewDefaultAccounts(NewEnv(w, w.kinds, slog.New(slog.NewTextHandler(&log, nil)))))
		synctest.Wait()
		for _, ns := range []string{"default", "platform-system", "platform-public", "platform-node-lease", "ends", "gone"} {
			if w.get("serviceaccounts/"+ns+"/default") == nil {
				t.Errorf("%s has no default account", ns)
			}
		}
		before := w.get("serviceaccounts/default/default").Meta.UID
		w.delete("serviceaccounts/default/default")
		w.delete("namespaces/gone")
		w.mutate("namespaces/gone", request.Mutation{Subresource: "finalize",
			Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"spec":{"finalizers":[]}}`)}})
		w.delete("serviceaccounts/gone/default")
		w.delete("namespaces/ends")
		w.delete("serviceaccounts/ends/default")
		synctest.Wait()
		stop()
		if o := w.get("serviceaccounts/default/default"); o == nil || o.Meta.UID == before {
			t.Errorf("a deleted account is not created again: %v", o)
		}
		if w.get("namespaces/gone") != nil || w.get("serviceaccounts/gone/default") != nil {
			t.Error("an account of no namespace")
		}
		if w.get("serviceaccounts/ends/default") != nil {
			t.Error("an account of a namespace that ends")
		}
		if log.Len() > 0 {
			t.Errorf("logged: %s", &log)
		}
	})
}

func TestClusterInfo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestStore(t)
		var text atomic.Value
		text.Store("one")
		c := tokens.NewClusterInfo(w.env(), func() []byte { return []byte(text.Load().(string)) })
		defer runControllers(c)()
		const path = "configmaps/platform-public/cluster-info"
		shows := func(want string) func() bool { return func() bool { return w.dataOf(path, "kubeconfig") == want } }
		w.waitUntil("it is there", shows("one"))
		text.Store("two")
		c.Publish()
		w.waitUntil("it follows", shows("two"))
		w.patch(path, `{"data":{"kubeconfig":null,"other":"x"}}`)
		w.waitUntil("it is corrected", shows("two"))
		w.delete(path)
		w.waitUntil("it is there again", shows("two"))
		w.patch(path, `{"immutable":true}`)
		text.Store("three")
		c.Publish()
		w.waitUntil("it follows although it was immutable", shows("three"))
		w.mutate(path, request.Mutation{Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"data":{"kubeconfig":"mine"}}`)}, FieldManager: "me"})
		version := w.get(path).Version
		c.Publish()
		synctest.Wait()
		if w.get(path).Version != version {
			t.Error("the configuration of another writer was replaced")
		}
	})
}

const trackingPath = "configmaps/platform-system/platform-apiserver-legacy-service-account-token-tracking"

// TestLegacyTokenTracking checks that the day on which tracking started is recorded only once, and
// that an invalid value is replaced.
func TestLegacyTokenTracking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestStore(t)
		tracking := tokens.NewLegacyTracking(w.env())
		defer runControllers(tracking)()
		day := time.Now().UTC().Format(time.DateOnly)
		today := func() bool { return w.dataOf(trackingPath, "since") == day }
		w.waitUntil("it is there", today)
		w.patch(trackingPath, `{"data":{"since":"long ago"}}`)
		w.waitUntil("it is corrected", today)
		w.delete(trackingPath)
		w.waitUntil("it is there again", today)
		w.patch(trackingPath, `{"data":{"since":"1999-02-03"}}`)
		synctest.Wait()
		if w.dataOf(trackingPath, "since") != "1999-02-03" {
			t.Error("a day that is one was replaced")
		}
		w.tokenSecret("s")
		tracking.Used("default", "s")
		tracking.Used("default", "nothing")
		w.waitFor("secrets", func(e reconcile.Event) bool {
			last, _ := e.Meta.Labels.Get("platform.io/legacy-token-last-used")
			return last == day
		})
	})
}

// TestLegacyTokenCleaner checks that only auto-generated token Secrets that are neither used nor
// mounted are marked invalid and later deleted.
func TestLegacyTokenCleaner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestStore(t)
		now := time.Now().UTC()
		later := now.AddDate(3, 0, 0) // time of the cleaner's run: every Secret is old enough then
		day := func(years int) string { return later.AddDate(years, 0, 0).Format(time.DateOnly) }
		var log bytes.Buffer
		clean := func() {
			c := tokens.NewLegacyCleaner(NewEnv(w, w.kinds, slog.New(slog.NewTextHandler(&log, nil))), 365*24*time.Hour)
			c.Now = func() time.Time { return later }
			defer runControllers(c)()
			synctest.Wait()
		}
		rows := []struct {
			name, label, want string
			byHand, mounted   bool
		}{
			{name: "never-used", want: "marked"},
			{name: "used-long-ago", label: "last-used=" + day(-2), want: "marked"},
			{name: "used-lately", label: "last-used=" + day(0), want: "kept"},
			{name: "used-at-no-day", label: "last-used=x", want: "kept"},
			{name: "by-hand", byHand: true, want: "kept"},
			{name: "mounted", mounted: true, want: "kept"},
			{name: "marked-lately", label: "invalid-since=" + day(0), want: "kept"},
			{name: "marked-long-ago", label: "invalid-since=" + day(-2), want: "deleted"},
			{name: "marked-badly", label: "invalid-since=x", want: "marked"},
		}
		w.create("serviceaccounts/default/robot")
		var references []any
		for _, r := range rows {
			w.tokenSecret(r.name)
			if label, value, labelled := strings.Cut(r.label, "="); labelled {
				w.patch("secrets/default/"+r.name, fmt.Sprintf(`{"metadata":{"labels":{"platform.io/legacy-token-%s":%q}}}`, label, value))
			}
			if !r.byHand {
				references = append(references, tree.Tree{"name": r.name})
			}
			if r.mounted {
				w.make("Pod", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","secret":{"secretName":"`+r.name+`"}}]}}`)
			}
		}
		w.mutate("serviceaccounts/default/robot", request.Mutation{Change: request.Update{Object: tree.Tree{
			"metadata": tree.Tree{"name": "robot"}, "secrets": references,
		}}})
		state := func(name, before string) string {
			o := w.get("secrets/default/" + name)
			if o == nil {
				return "deleted"
			}
			if since, _ := o.Meta.Labels.Get("platform.io/legacy-token-invalid-since"); since == day(0) && before != "invalid-since="+day(0) {
				return "marked"
			}
			return "kept"
		}
		// Unused tokens cannot be identified before tracking has started.
		clean()
		if got := state("marked-long-ago", ""); got != "kept" || log.Len() > 0 {
			t.Errorf("before uses were noted: %s, %s", got, &log)
		}
		w.make("ConfigMap", `{"metadata":{"name":"platform-apiserver-legacy-service-account-token-tracking","namespace":"platform-system"},"data":{"since":"`+now.Format(time.DateOnly)+`"}}`)
		clean()
		if !strings.Contains(log.String(), "used-at-no-day: ") {
			t.Errorf("nothing is said of a label that is no day: %s", &log)
		}
		for _, r := range rows {
			if got := state(r.name, r.label); got != r.want {
				t.Errorf("%s is %s, want %s", r.name, got, r.want)
			}
		}
	})
}
