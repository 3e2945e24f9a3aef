package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// TestLegacyTokenCleaner checks that only auto-generated token Secrets that are neither used nor
// mounted are marked invalid and later deleted.
func TestLegacyTokenCleaner(t *testing.T) {
	w := newTestStore(t)
	now := time.Now().UTC()
	later := now.AddDate(3, 0, 0) // time of the cleaner's run: every Secret is old enough then
	day := func(years int) string { return later.AddDate(years, 0, 0).Format(time.DateOnly) }
	c := NewLegacyTokenCleaner(w.env(), 365*24*time.Hour)
	c.now = func() time.Time { return later }

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
	must.Succeed(t, c.clean(t.Context()))
	if got := state("marked-long-ago", ""); got != "kept" {
		t.Errorf("before uses were noted: %s", got)
	}
	w.make("ConfigMap", `{"metadata":{"name":"`+legacyTokenTracking+`","namespace":"platform-system"},"data":{"since":"`+now.Format(time.DateOnly)+`"}}`)
	if err := c.clean(t.Context()); err == nil {
		t.Error("nothing is said of a label that is no day")
	}
	for _, r := range rows {
		if got := state(r.name, r.label); got != r.want {
			t.Errorf("%s is %s, want %s", r.name, got, r.want)
		}
	}
}
