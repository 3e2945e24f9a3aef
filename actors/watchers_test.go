package actors_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist/vfs"
)

// podWrites creates and changes Pods. The watches of the tests select Pods by name, namespace, node
// and phase.
type podWrites struct{ *testStore }

func (h podWrites) create(namespace, name, node string) {
	h.t.Helper()
	h.write(request.Mutation{Key: meta.Key{Namespace: namespace, Name: name}, Change: request.Create{Object: tree.Tree{
		"metadata": tree.Tree{"name": name},
		"spec": tree.Tree{
			"containers":    []any{tree.Tree{"name": "c", "image": "i", "imagePullPolicy": "Always", "terminationMessagePath": "/x", "terminationMessagePolicy": "File"}},
			"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "terminationGracePeriodSeconds": int64(0), "nodeName": node,
			"enableServiceLinks": true, "schedulerName": "s", "securityContext": tree.Tree{},
		},
	}}})
}

func (h podWrites) setPhase(namespace, name, phase string) {
	h.t.Helper()
	h.write(request.Mutation{Key: meta.Key{Namespace: namespace, Name: name}, Subresource: "status",
		Change: request.Patch{Type: request.MergePatch, Body: fmt.Appendf(nil, `{"status":{"phase":%q}}`, phase)}})
}

func (h podWrites) remove(namespace, name string) {
	h.t.Helper()
	h.write(request.Mutation{Change: request.Delete{}, Key: meta.Key{Namespace: namespace, Name: name}})
}

func (h podWrites) createNamespaces(names ...string) {
	h.t.Helper()
	for _, name := range names {
		object := tree.Tree{"metadata": tree.Tree{"name": name}}
		must.Get(h.Mutate(h.t.Context(), request.Mutation{Kind: h.kind("namespaces"), Key: meta.Key{Name: name}, Change: request.Create{Object: object}}))(h.t)
	}
}

func (h podWrites) write(m request.Mutation) {
	h.t.Helper()
	m.Kind = h.kind("pods")
	must.Get(h.Mutate(h.t.Context(), m))(h.t)
}

// watch starts a Pod watch at the current version. The sink can buffer all events of a test.
func (h podWrites) watch(namespace, fields string) eventSink {
	h.t.Helper()
	parsed := must.Get(selector.ParseFields(h.kind("pods"), fields))(h.t)
	events := make(eventSink, 1000)
	must.Get(h.Watch(h.t.Context(), request.Watch{Kind: h.kind("pods"), Namespace: namespace, Fields: parsed, Version: h.Version()}, events))(h.t)
	return events
}

func line(e request.Event) string {
	if e.Type == request.Error {
		return e.Status.Message
	}
	return fmt.Sprintf("%s %s@%d", e.Type, e.Object.Key.Name, e.Object.Version)
}

// TestSelectedWatches checks that a watch with selectors gets the same events as if each change
// were matched against every watch.
func TestSelectedWatches(t *testing.T) {
	t.Parallel()
	h := podWrites{openOn(t, "data", vfs.NewMem(), nil)}
	defer h.close()
	namespaces, nodes, phases, names := []string{"a", "b", "c"}, []string{"", "n1", "n2"}, []string{"Pending", "Running", "Failed"}, []string{"p", "q", "r"}
	h.createNamespaces(namespaces...)
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(all []string) string { return all[random.IntN(len(all))] }
	type pod struct{ node, phase string }
	pods, watches := map[meta.Key]pod{}, map[string]eventSink{}
	matches := map[string]func(meta.Key, pod) bool{}
	want := map[string][]string{}
	for _, namespace := range append(namespaces, "") {
		in := func(key meta.Key) bool { return namespace == "" || key.Namespace == namespace }
		for fields, match := range map[string]func(meta.Key, pod) bool{
			"":                                     func(meta.Key, pod) bool { return true },
			"metadata.name=p":                      func(k meta.Key, _ pod) bool { return k.Name == "p" },
			"metadata.name!=p":                     func(k meta.Key, _ pod) bool { return k.Name != "p" },
			"metadata.namespace=b":                 func(k meta.Key, _ pod) bool { return k.Namespace == "b" },
			"spec.nodeName=n1":                     func(_ meta.Key, p pod) bool { return p.node == "n1" },
			"spec.nodeName=":                       func(_ meta.Key, p pod) bool { return p.node == "" },
			"status.phase=Running":                 func(_ meta.Key, p pod) bool { return p.phase == "Running" },
			"status.phase!=Failed":                 func(_ meta.Key, p pod) bool { return p.phase != "Failed" },
			"spec.nodeName=n2,status.phase=Failed": func(_ meta.Key, p pod) bool { return p.node == "n2" && p.phase == "Failed" },
			"status.phase=Failed,metadata.name=q":  func(k meta.Key, p pod) bool { return k.Name == "q" && p.phase == "Failed" },
		} {
			at := namespace + "?" + fields
			watches[at], matches[at] = h.watch(namespace, fields), func(k meta.Key, p pod) bool { return in(k) && match(k, p) }
		}
	}
	expect := func(key meta.Key, before, after *pod) {
		for at, match := range matches {
			was, is := before != nil && match(key, *before), after != nil && match(key, *after)
			kind := map[[2]bool]request.EventType{{false, true}: request.Added, {true, true}: request.Modified, {true, false}: request.Deleted}[[2]bool{was, is}]
			if was || is {
				want[at] = append(want[at], fmt.Sprintf("%s %s@%d", kind, key.Name, h.Version()))
			}
		}
	}
	for range 400 {
		key := meta.Key{Namespace: pick(namespaces), Name: pick(names)}
		before, there := pods[key]
		switch {
		case !there:
			after := pod{pick(nodes), "Pending"}
			h.create(key.Namespace, key.Name, after.node)
			pods[key] = after
			expect(key, nil, &after)
		case random.IntN(3) == 0:
			h.remove(key.Namespace, key.Name)
			delete(pods, key)
			expect(key, &before, nil)
		default:
			after := pod{before.node, pick(phases)}
			if after == before {
				continue
			}
			h.setPhase(key.Namespace, key.Name, after.phase)
			pods[key] = after
			expect(key, &before, &after)
		}
	}
	for at, events := range watches {
		for i, want := range want[at] {
			if got := line(<-events); got != want {
				t.Fatalf("%s: event %d is %q, want %q", at, i, got, want)
			}
		}
		if len(events) > 0 {
			t.Errorf("%s: one event too many: %q", at, line(<-events))
		}
	}
}

// A writingSink writes an object before it accepts its first event.
type writingSink struct {
	eventSink
	write func()
	once  *sync.Once
}

func (s writingSink) Events(events []request.Event) error {
	s.once.Do(s.write)
	return s.eventSink.Events(events)
}

// TestWatchIsWokenWhileItDelivers checks that a change made during a delivery is delivered even if
// no other change follows.
func TestWatchIsWokenWhileItDelivers(t *testing.T) {
	t.Parallel()
	h := openOn(t, "data", vfs.NewMem(), nil)
	defer h.close()
	events := make(eventSink, 10)
	sink := writingSink{events, func() {
		if _, err := h.create("second", "1"); err != nil {
			t.Error(err)
		}
	}, new(sync.Once)}
	must.Get(h.Watch(t.Context(), request.Watch{Kind: h.kind("configmaps"), Namespace: "default", Version: h.Version()}, sink))(t)
	must.Get(h.create("first", "1"))(t)
	for _, name := range []string{"first", "second"} {
		select {
		case e := <-events:
			if e.Object.Key.Name != name {
				t.Errorf("%s, want %s", line(e), name)
			}
		case <-time.After(5 * time.Minute):
			t.Fatalf("%s was not delivered", name)
		}
	}
}

// TestInitialEventsAreAll checks that all objects are delivered, in several batches, before the
// bookmark that ends the initial events.
func TestInitialEventsAreAll(t *testing.T) {
	t.Parallel()
	h := openOn(t, "data", vfs.NewMem(), nil)
	defer h.close()
	const objects = 600 // more than two batches
	for i := range objects {
		must.Get(h.create(fmt.Sprint("c", i), "1"))(t)
	}
	events := make(eventSink, objects+1)
	all := request.Watch{Kind: h.kind("configmaps"), Namespace: "default", SendInitialEvents: true, MarkInitialEventsEnd: true}
	must.Get(h.Watch(t.Context(), all, events))(t)
	names := map[string]bool{}
	for e := range events {
		if e.Type == request.Bookmark {
			break
		}
		names[e.Object.Key.Name] = true
	}
	if len(names) != objects {
		t.Errorf("%d objects before the end, want %d", len(names), objects)
	}
}

// TestQuietWatchOutlivesTheHistory checks that a watch stays valid if the history has dropped only
// changes that it does not select.
func TestQuietWatchOutlivesTheHistory(t *testing.T) {
	t.Parallel()
	h := podWrites{openOn(t, "data", vfs.NewMem(), func(o *actors.Options) { o.Tuning.HistoryBytes = 16 << 10 })}
	defer h.close()
	h.createNamespaces("busy", "quiet")
	h.create("busy", "p", "n1")
	quiet := map[string]eventSink{"by namespace": h.watch("quiet", ""), "by node": h.watch("", "spec.nodeName=n2"), "by name": h.watch("quiet", "metadata.name=q")}
	busy := h.watch("", "")
	const changes = 600
	for i := range changes {
		h.setPhase("busy", "p", []string{"Running", "Pending"}[i%2])
		<-busy // by then, other watches would have been notified
	}
	h.create("quiet", "q", "n2")
	for name, events := range quiet {
		if got, want := line(<-events), fmt.Sprintf("ADDED q@%d", h.Version()); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// BenchmarkKubelets changes one Pod while 10,000 kubelets watch the Pods of their nodes. It reports
// the CPU time per change. Only one watch selects the Pod.
func BenchmarkKubelets(b *testing.B) {
	h := podWrites{openOn(b, "data", vfs.NewMem(), nil)}
	defer h.close()
	h.create("default", "p", "node-7")
	var events sync.WaitGroup
	for n := range 10_000 {
		fields := must.Get(selector.ParseFields(h.kind("pods"), fmt.Sprintf("spec.nodeName=node-%d", n)))(b)
		must.Get(h.Watch(b.Context(), request.Watch{Kind: h.kind("pods"), Fields: fields, Version: h.Version()}, countingSink{&events}))(b)
	}
	before := cpuTime(b)
	for i := 0; b.Loop(); i++ {
		events.Add(1)
		h.setPhase("default", "p", []string{"Running", "Pending"}[i%2])
		events.Wait()
	}
	b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N), "ns-cpu/change")
}
