package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/persist/vfs"
)

// TestForeignOwners checks that an owner in another namespace counts as absent and is reported by
// an Event, unlike deleted owners and those that never existed.
func TestForeignOwners(t *testing.T) {
	w := openTestStore(t, vfs.NewMem())
	defer w.close()
	w.create("namespaces/other")
	foreign, own := w.create("configmaps/other/owner"), w.create("configmaps/default/owner")
	w.createOwned("secrets/default/misled", ownerReference(foreign, "ConfigMap", false))
	w.createOwned("secrets/default/stray", ownerReference(absentOwner, "ConfigMap", false))
	w.createOwned("secrets/default/child", ownerReference(own, "ConfigMap", false))
	w.createOwned("namespaces/n", ownerReference(foreign, "ConfigMap", false))
	defer w.runGarbageCollector()()
	for _, path := range []string{"secrets/default/misled", "secrets/default/stray"} {
		w.waitNotFound(path)
	}
	w.delete("configmaps/default/owner")
	w.waitNotFound("secrets/default/child")
	events := func() (texts []string) {
		all := must.Get(w.List(t.Context(), request.List{Kind: w.kind("events")}))(t)
		for _, o := range all.Items {
			e := w.storedTree("events/" + o.Key.Namespace + "/" + o.Key.Name)
			about := e.Object("involvedObject")
			texts = append(texts, strings.Join([]string{about.String("kind"), about.String("name"), e.String("type"), e.String("reason"), e.String("message")}, " "))
		}
		slices.Sort(texts)
		return texts
	}
	said := func(about, namespace string) string {
		return fmt.Sprintf("%s Warning OwnerRefInvalidNamespace ownerRef [v1/ConfigMap, namespace: %s, name: owner, uid: %s] does not exist in namespace %[2]q",
			about, namespace, foreign.Meta.UID)
	}
	want := []string{said("Namespace n", ""), said("Secret misled", "default")}
	w.waitUntil("there are Events", func() bool { return len(events()) >= len(want) })
	if got := events(); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if o := w.get("namespaces/n"); o == nil || o.Meta.Terminating {
		t.Error("the owner of a cluster-scoped object counts as absent")
	}
}
