package controllers

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// TestAPIServerIdentity checks that a server has a Lease while it runs and takes over the same
// Lease after a restart. Expired Leases of other servers are deleted.
func TestAPIServerIdentity(t *testing.T) {
	w := newTestStore(t)
	a := NewAPIServerIdentity(w.env(), "host")
	if a.key.Name != "apiserver-i5ak4y2hwalsyajfj72vxls274" {
		t.Errorf("the Lease is named %s", a.key.Name)
	}
	lease := func(name, label string, renewed time.Time) {
		key := a.key
		key.Name = name
		must.Get(w.Mutate(t.Context(), request.Mutation{Kind: a.leases.Kind, Key: key, Change: request.Create{Object: tree.Tree{
			"metadata": tree.Tree{"name": name, "namespace": key.Namespace, "labels": tree.Tree{"apiserver.platform.io/identity": label}},
			"spec":     tree.Tree{"holderIdentity": "x", "leaseDurationSeconds": int64(60), "renewTime": renewed.UTC().Format("2006-01-02T15:04:05.000000Z")},
		}}}))(t)
	}
	get := func(name string) *meta.Object {
		key := a.key
		key.Name = name
		o, err := w.Get(t.Context(), request.Get{Kind: a.leases.Kind, Key: key})
		if err != nil && !reconcile.IsNotFound(err) {
			t.Fatal(err)
		}
		return o
	}
	lease(a.key.Name, "platform-apiserver", time.Now().Add(-time.Hour))
	lease("expired", "platform-apiserver", time.Now().Add(-time.Hour))
	lease("alive", "platform-apiserver", time.Now())
	lease("foreign", "other", time.Now().Add(-time.Hour))
	stop := runControllers(a)
	w.waitUntil("the expired one has gone", func() bool { return get("expired") == nil })
	for _, part := range []string{fmt.Sprintf(`"holderIdentity":%q`, a.holder), `"leaseDurationSeconds":3600`, `"platform.io/hostname":"host"`} {
		if o := get(a.key.Name); o == nil || !bytes.Contains(o.JSON, []byte(part)) {
			t.Errorf("the Lease of the server lacks %s: %v", part, o)
		}
	}
	stop()
	if get(a.key.Name) != nil || get("alive") == nil || get("foreign") == nil {
		t.Error("its own Lease, and nothing else, is to go with the server")
	}
	lease(a.key.Name, "platform-apiserver", time.Now())
	a.leave()
	if get(a.key.Name) == nil {
		t.Error("a Lease that another server has taken over has gone")
	}
}
