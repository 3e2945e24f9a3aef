package nodes

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// TaintEviction deletes Pods from nodes with NoExecute taints: at once if they do not tolerate them, else when they have
// tolerated them for long enough. It follows Pods from the first such taint on.
//
// Order of locks: mu first, then those of the schedule. mu is not held while the store is asked. since and due
// change together under mu.
type TaintEviction struct {
	*reconcile.Controller[meta.Key] // of Pods
	podStore
	nodes reconcile.Client

	mu      sync.Mutex             // guards the rest
	tainted map[string][]tree.Tree // taints NoExecute of nodes
	since   map[meta.Key]time.Time // when a Pod was first seen not to tolerate those of its node
}

// NewTaintEviction returns the controller.
func NewTaintEviction(env *reconcile.Env) *TaintEviction {
	t := &TaintEviction{
		podStore: newPodStore(env, "taint-eviction-controller"), nodes: env.Core("Node"),
		tainted: map[string][]tree.Tree{}, since: map[meta.Key]time.Time{},
	}
	t.Controller = reconcile.New(env, "noexec_taint_pod", t.evict, "a Pod that does not tolerate a taint stays", "pod")
	begin := make(chan struct{}) // without a tainted node no Pods are watched
	first := sync.OnceFunc(func() { close(begin) })
	t.Watch(t.nodes, func(e reconcile.Event) {
		if t.noteNode(e) {
			first()
		}
	})
	t.Go(reconcile.When(begin, func(ctx context.Context) { t.pods.WatchLoop(ctx, t.followPods) }))
	return t
}

// noteNode notes the taints of a node and has its Pods looked at; it tells whether it has any.
//
// The taints are noted before the Pods of the node are listed. A Pod that comes to the node later than the list is
// seen by the watch, which finds the taints in place: so none is missed.
func (t *TaintEviction) noteNode(e reconcile.Event) bool {
	var taints []tree.Tree
	if !e.Deleted {
		node, err := t.nodes.Decode(e.Object)
		if err != nil {
			t.Log.Warn("a node cannot be read", "node", e.Key.Name, "error", err)
			return false
		}
		taints = noExecute(node.Object("spec").Copy())
	}
	t.mu.Lock()
	old := t.tainted[e.Key.Name]
	delete(t.tainted, e.Key.Name)
	if len(taints) > 0 {
		t.tainted[e.Key.Name] = taints
	}
	t.mu.Unlock()
	if e.Deleted || len(old) == 0 && len(taints) == 0 || tree.SemanticEqual(tree.ListOf(old), tree.ListOf(taints)) {
		return len(taints) > 0
	}
	pods, err := t.on(context.Background(), e.Key.Name)
	if err != nil {
		t.Log.Warn("the Pods of a node cannot be listed", "node", e.Key.Name, "error", err)
	}
	for _, p := range pods {
		t.look(p)
	}
	return len(taints) > 0
}

// noExecute are the taints of a node that Pods must tolerate to stay.
// Taints with other effects only keep new Pods away.
func noExecute(spec tree.Tree) []tree.Tree {
	var taints []tree.Tree
	for _, t := range spec.Objects("taints") {
		if t.String("effect") == "NoExecute" {
			taints = append(taints, t)
		}
	}
	return taints
}

// followPods begins a watch of Pods.
func (t *TaintEviction) followPods(int) func([]request.Event) error {
	return func(events []request.Event) error {
		for i := range events {
			switch e := &events[i]; e.Type {
			case request.Added, request.Modified:
				t.look(e.Object)
			case request.Deleted:
				t.forget(e.Object.Key)
			}
		}
		return nil
	}
}

func (t *TaintEviction) forget(key meta.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Cancel(key)
	delete(t.since, key)
}

// look decides when a Pod is to be deleted, if at all.
//
// A Pod is decoded only if its node has such taints. When it is scheduled already, its time goes on from when it
// first was: a change of the taints does not give it the full time again.
func (t *TaintEviction) look(o *meta.Object) {
	t.mu.Lock()
	taints, tainted := t.tainted[t.nodeOf(o)]
	_, scheduled := t.since[o.Key]
	t.mu.Unlock()
	if !tainted && !scheduled || o.Meta.Terminating {
		return
	}
	var tolerations []tree.Tree
	if tainted {
		pod, err := t.pods.Decode(o)
		if err != nil {
			t.Log.Warn("a Pod cannot be read", "pod", o.Key.String(), "error", err)
			return
		}
		tolerations = pod.Object("spec").Objects("tolerations")
	}
	after, stays := toleratedFor(taints, tolerations)
	key := o.Key
	if stays {
		t.forget(key)
		if scheduled {
			t.pods.Note(o, "TaintManagerEviction", "Cancelling deletion of Pod "+o.Key.Namespace+"/"+o.Key.Name)
		}
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	since, known := t.since[key]
	if !known {
		since = time.Now()
		t.since[key] = since
	}
	t.SetTime(key, since.Add(after))
}

// toleratedFor is how long a Pod with these tolerations may stay on a node with these taints: the shortest time of the
// tolerations that it needs. stays says that it may for ever.
//
// One taint that no toleration is for means that the Pod goes at once. A toleration without seconds sets no limit,
// and negative seconds count as 0.
func toleratedFor(taints, tolerations []tree.Tree) (after time.Duration, stays bool) {
	stays = true
	for _, taint := range taints {
		tolerated := false
		for _, o := range tolerations {
			if !tolerates(o, taint) {
				continue
			}
			tolerated = true
			if seconds, limited := o.Int("tolerationSeconds"); limited {
				if d := time.Duration(max(seconds, 0)) * time.Second; stays || d < after {
					after, stays = d, false
				}
			}
		}
		if !tolerated {
			return 0, false
		}
	}
	return after, stays
}

// tolerates tells whether a toleration is for a taint.
// An empty effect or key matches every one, but an empty key only with the operator Exists.
func tolerates(toleration, taint tree.Tree) bool {
	if effect := toleration.String("effect"); effect != "" && effect != taint.String("effect") {
		return false
	}
	if key := toleration.String("key"); key != "" && key != taint.String("key") {
		return false
	}
	if toleration.String("operator") == "Exists" {
		return true
	}
	return toleration.String("key") != "" && toleration.String("value") == taint.String("value")
}

// evict deletes a Pod whose time has come, if it still has to go.
//
// Everything is read again, since taints and tolerations may have changed while the Pod waited in the queue. The Pod
// gets its own grace period, as its kubelet may well be alive.
func (t *TaintEviction) evict(ctx context.Context, key meta.Key) error {
	o, pod, err := t.pods.Read(ctx, key)
	if err != nil {
		return err
	}
	t.mu.Lock()
	since, known := t.since[key]
	var taints []tree.Tree
	if o != nil {
		taints = t.tainted[t.nodeOf(o)]
	}
	t.mu.Unlock()
	if o == nil || !known || o.Meta.Terminating {
		t.forget(key)
		return nil
	}
	after, stays := toleratedFor(taints, pod.Object("spec").Objects("tolerations"))
	if stays {
		t.forget(key)
		return nil
	}
	if at := since.Add(after); at.After(time.Now()) {
		t.SetTime(key, at)
		return nil
	}
	t.pods.Note(o, "TaintManagerEviction", "Marking for deletion Pod "+key.Namespace+"/"+key.Name)
	err = t.changeStatus(ctx, key, o.Meta.UID, func(status tree.Tree) bool {
		putCondition(status, disruption("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"))
		return true
	})
	if err != nil {
		return err
	}
	if err = t.delete(ctx, key, o.Meta.UID, nil); err == nil {
		t.forget(key)
	}
	return err
}
