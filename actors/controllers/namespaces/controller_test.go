package namespaces

import (
	"log/slog"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestMayTakeTime(t *testing.T) {
	t.Parallel()
	kinds := must.Get(catalog.New(meta.Platform))(t)
	n := New(reconcile.NewEnv(nil, kinds, slog.New(slog.DiscardHandler)), nil, 0)
	for _, c := range []struct {
		resource, content string
		deleted           time.Duration // time since the deletion
		want              bool
	}{
		{"configmaps", `{}`, 0, false},
		{"pods", `{"spec":{"terminationGracePeriodSeconds":30}}`, time.Second, true},
		{"pods", `{"spec":{"terminationGracePeriodSeconds":30}}`, time.Hour, false},
		{"pods", `{"spec":{"terminationGracePeriodSeconds":30},"status":{"phase":"Succeeded"}}`, time.Second, false},
	} {
		namespace := tree.Tree{"metadata": tree.Tree{"deletionTimestamp": time.Now().Add(-c.deleted).UTC().Format(time.RFC3339)}}
		if got := n.mayTakeTime(kinds.Kind("", "v1", c.resource), namespace, []*meta.Object{{JSON: []byte(c.content)}}); got != c.want {
			t.Errorf("%s %s after %v: %v", c.resource, c.content, c.deleted, got)
		}
	}
}
