package controllers

import (
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/request"
)

func (w *testStore) dataOf(path, key string) string {
	if w.get(path) == nil {
		return ""
	}
	return w.storedTree(path).Object("data").String(key)
}

// TestClusterInfo checks that the ConfigMap follows the server's configuration and is recreated
// after a delete. Other clients' values are kept.
func TestClusterInfo(t *testing.T) {
	w := newTestStore(t)
	var text atomic.Value
	text.Store("one")
	c := NewClusterInfo(w.env(), func() []byte { return []byte(text.Load().(string)) })
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
	if err := c.ensure(t.Context(), c.key); err != nil || w.get(path).Version != version {
		t.Error("the configuration of another writer was replaced", err)
	}
}

// TestLegacyTokenTracking checks that the day on which tracking started is recorded only once, and
// that an invalid value is replaced.
func TestLegacyTokenTracking(t *testing.T) {
	w := newTestStore(t)
	tracking := NewLegacyTokenTracking(w.env())
	defer runControllers(tracking)()
	const path = "configmaps/platform-system/platform-apiserver-legacy-service-account-token-tracking"
	today := func() bool { return w.dataOf(path, "since") == tracking.now().UTC().Format("2006-01-02") }
	w.waitUntil("it is there", today)
	w.patch(path, `{"data":{"since":"long ago"}}`)
	w.waitUntil("it is corrected", today)
	w.delete(path)
	w.waitUntil("it is there again", today)
	w.patch(path, `{"data":{"since":"2001-02-03"}}`)
	if err := tracking.ensure(t.Context(), tracking.key); err != nil || w.dataOf(path, "since") != "2001-02-03" {
		t.Error("a day that is one was replaced", err)
	}
	w.tokenSecret("s")
	tracking.Used("default", "s")
	tracking.Used("default", "nothing")
	w.waitFor("secrets", func(e reconcile.Event) bool {
		day, _ := e.Meta.Labels.Get("platform.io/legacy-token-last-used")
		return day == tracking.now().UTC().Format("2006-01-02")
	})
}
