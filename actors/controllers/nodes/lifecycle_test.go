package nodes

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
)

// nodeWatch is a Lifecycle with a fake clock.
type nodeWatch struct {
	*Lifecycle
	t     *testing.T
	store *fakeStore
	clock time.Time
	beats int
}

func watchNodes(t *testing.T, names ...string) *nodeWatch {
	t.Helper()
	kinds := must.Get(catalog.New(meta.Kubernetes))(t)
	w := &nodeWatch{t: t, store: &fakeStore{objects: map[meta.Key]*meta.Object{}}, clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	w.Lifecycle = NewLifecycle(reconcile.NewEnv(w.store, kinds, slog.New(slog.DiscardHandler)), LifecycleOptions{Grace: 40 * time.Second, StartupGrace: time.Minute})
	w.now = func() time.Time { return w.clock }
	for _, name := range names {
		w.report(name)
	}
	w.after(0)
	return w
}

func (w *nodeWatch) report(name string) {
	w.t.Helper()
	w.beats++
	w.store.put(w.t, w.nodes.Kind, "", name, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"uid":%q,"creationTimestamp":"2026-01-01T00:00:00Z"},
		"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"20%02d-01-01T00:00:00Z"}]}}`, name, name, w.beats))
	for key, o := range w.store.objects {
		if key.Name == name {
			o.Version = uint64(w.beats) + 1000
		}
	}
}

func (w *nodeWatch) lease(name, at string) {
	w.t.Helper()
	w.beats++
	w.store.put(w.t, w.leases.Kind, "kube-node-lease", name, fmt.Sprintf(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":%q,"namespace":"kube-node-lease"},"spec":{"renewTime":%q}}`, name, at))
	for key, o := range w.store.objects {
		if key.Name == name && key.GroupResource == w.leases.Storage {
			o.Version = uint64(w.beats) + 1000
		}
	}
}

// after advances the clock, runs one check, and formats the Unknown and the evicted nodes.
func (w *nodeWatch) after(d time.Duration) string {
	w.t.Helper()
	w.clock = w.clock.Add(d)
	must.Succeed(w.t, w.look(context.Background()))
	var states []string
	for _, name := range []string{"a", "b", "c"} {
		for key, o := range w.store.objects {
			text := string(o.JSON)
			switch {
			case key.Name != name || key.GroupResource != w.nodes.Storage:
			case strings.Contains(text, "NoExecute"):
				states = append(states, name+" evicted")
			case strings.Contains(text, `"status":"Unknown"`):
				states = append(states, name+" unknown")
			}
		}
	}
	return strings.Join(states, ", ")
}

func (w *nodeWatch) want(d time.Duration, states string) {
	w.t.Helper()
	if got := w.after(d); got != states {
		w.t.Errorf("at %s: %q, want %q", w.clock.Format(time.TimeOnly), got, states)
	}
}

// TestAllSilent checks that no Pod is evicted while all nodes are silent, and that all nodes get a
// new grace period afterwards.
func TestAllSilent(t *testing.T) {
	t.Parallel()
	w := watchNodes(t, "a", "b", "c")
	w.want(41*time.Second, "a unknown, b unknown, c unknown")
	w.want(time.Hour, "a unknown, b unknown, c unknown")
	w.report("a")
	w.want(5*time.Second, "b unknown, c unknown")
	w.report("b")
	w.want(30*time.Second, "c unknown")
	w.report("a")
	w.report("b")
	w.want(11*time.Second, "c evicted")
}

func TestZoneIsEvictedSlowly(t *testing.T) {
	t.Parallel()
	w := watchNodes(t, "a", "b", "c")
	w.clock = w.clock.Add(30 * time.Second)
	w.report("a")
	first := w.after(11 * time.Second)
	if first != "b evicted, c unknown" && first != "b unknown, c evicted" {
		t.Errorf("at first %q", first)
	}
	w.report("a")
	w.want(5*time.Second, first)
	w.report("a")
	w.want(6*time.Second, "b evicted, c evicted")
	w.report("b")
	w.want(time.Second, "c evicted")
}

// TestClocksOfNodes checks that every new Lease time counts as a renewal, even an earlier time.
func TestClocksOfNodes(t *testing.T) {
	t.Parallel()
	w := watchNodes(t, "a", "b", "c")
	for i := range 20 {
		w.report("a")
		w.lease("b", fmt.Sprintf("2050-01-01T00:00:%02d.000000Z", 59-i)) // each earlier than the previous one
		w.lease("c", fmt.Sprintf("1990-01-01T00:00:%02d.000000Z", i))
		w.want(30*time.Second, "")
	}
	w.report("a")
	w.lease("b", "2050-01-01T00:00:40.000000Z") // rewritten with the same time
	w.lease("c", "1990-01-01T00:00:50.000000Z")
	w.want(41*time.Second, "b evicted")
}
