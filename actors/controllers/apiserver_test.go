package controllers

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/apiserver"
	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// TestAPIServerIdentity checks that a server holds a Lease while it runs and reuses that Lease
// after a restart. Expired Leases of other servers are deleted.
func TestAPIServerIdentity(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestStore(t)
		own := apiserver.ID("host")
		if own != "apiserver-i5ak4y2hwalsyajfj72vxls274" {
			t.Errorf("the Lease is named %s", own)
		}
		lease := func(name, label string, renewed time.Time) {
			w.make("Lease", fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"platform-system","labels":{"apiserver.platform.io/identity":%q}},
				"spec":{"holderIdentity":"x","leaseDurationSeconds":60,"renewTime":%q}}`, name, label, renewed.UTC().Format("2006-01-02T15:04:05.000000Z")))
		}
		get := func(name string) *meta.Object {
			k := w.kindNamed("Lease")
			o, err := w.Get(t.Context(), request.Get{Kind: k, Key: keyOf(k, "platform-system/"+name)})
			if err != nil && !reconcile.IsNotFound(err) {
				t.Fatal(err)
			}
			return o
		}
		run := func() (stop func()) {
			stop = runControllers(apiserver.NewIdentity(w.env(), "host"))
			synctest.Wait()
			return stop
		}
		lease(own, "platform-apiserver", time.Now().Add(-time.Hour))
		lease("expired", "platform-apiserver", time.Now().Add(-time.Hour))
		lease("alive", "platform-apiserver", time.Now())
		lease("foreign", "other", time.Now().Add(-time.Hour))
		stop := run()
		if get("expired") != nil {
			t.Error("the expired Lease is still there")
		}
		for _, part := range []string{fmt.Sprintf(`"holderIdentity":"%s_`, own), `"leaseDurationSeconds":3600`, `"platform.io/hostname":"host"`} {
			if o := get(own); o == nil || !bytes.Contains(o.JSON, []byte(part)) {
				t.Errorf("the Lease of the server lacks %s: %v", part, o)
			}
		}
		stop()
		if get(own) != nil || get("alive") == nil || get("foreign") == nil {
			t.Error("its own Lease, and nothing else, is to go with the server")
		}
		stop = run()
		w.change("Lease", "platform-system/"+own, "", request.Patch{Type: request.MergePatch, Body: []byte(`{"spec":{"holderIdentity":"x"}}`)})
		stop()
		if get(own) == nil {
			t.Error("a Lease that another server has taken over has gone")
		}
	})
}

func TestEventExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestStore(t)
		began := time.Now()
		event := func(name string, last time.Time) {
			w.make("Event", fmt.Sprintf(`{"metadata":{"name":%q},"involvedObject":{"namespace":"default"},"lastTimestamp":%q}`, name, last.UTC().Format(time.RFC3339)))
		}
		for name, last := range map[string]time.Duration{"before": 30 * time.Minute, "future": 10 * time.Hour} {
			event(name, began.Add(last))
		}
		time.Sleep(time.Hour)
		defer runControllers(apiserver.NewEventExpiry(w.env(), time.Hour))()
		synctest.Wait()
		event("rewritten", began)
		for _, c := range []struct {
			at   time.Duration
			left []string
		}{
			{89 * time.Minute, []string{"before", "future", "rewritten"}},
			{91 * time.Minute, []string{"future", "rewritten"}},
			{119 * time.Minute, []string{"future", "rewritten"}},
			{121 * time.Minute, []string{"rewritten"}},
			{149 * time.Minute, []string{"rewritten"}},
			{152 * time.Minute, nil},
		} {
			if time.Sleep(time.Until(began.Add(c.at))); c.at == 91*time.Minute {
				w.patch("events/default/rewritten", `{"message":"after"}`)
			}
			for _, name := range []string{"before", "future", "rewritten"} {
				if got, want := w.get("events/default/"+name) != nil, slices.Contains(c.left, name); got != want {
					t.Errorf("%s after %v: %t", name, c.at, got)
				}
			}
		}
	})
}
