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

// TaintEviction deletes Pods from nodes with NoExecute taints. A Pod that tolerates them is deleted
// when its toleration expires, and any other Pod immediately. The controller watches Pods once a
// node has such a taint.
//
// Lock order: mu is taken before the lock of the schedule. It is not held during store calls. It is
// held while since and the schedule are changed, so that the two always agree.
type TaintEviction struct {
	*reconcile.Controller[meta.Key] // queue of Pods
	podStore
	nodes reconcile.Client

	mu      sync.Mutex             // guards the fields below
	tainted map[string][]tree.Tree // NoExecute taints by node
	since   map[meta.Key]time.Time // when a Pod was first seen with taints that limit its stay
}

func NewTaintEviction(env *reconcile.Env) *TaintEviction {
	t := &TaintEviction{
		podStore: newPodStore(env, "taint-eviction-controller"), nodes: env.Core("Node"),
		tainted: map[string][]tree.Tree{}, since: map[meta.Key]time.Time{},
	}
	t.Controller = reconcile.New(env, "noexec_taint_pod", t.evict, "cannot delete a Pod that does not tolerate a taint", "pod")
	begin := make(chan struct{}) // without a tainted node, Pods are not watched
	first := sync.OnceFunc(func() { close(begin) })
	t.Watch(t.nodes, func(e reconcile.Event) {
		if t.noteNode(e) {
			first()
		}
	})
	t.Go(reconcile.When(begin, func(ctx context.Context) { t.pods.WatchLoop(ctx, t.followPods) }))
	return t
}

// noteNode records the taints of a node. If they have changed, it checks each Pod on the node. The
// Pod watch checks Pods that are bound to the node later. noteNode returns true if the node has
// taints.
func (t *TaintEviction) noteNode(e reconcile.Event) bool {
	var taints []tree.Tree
	if !e.Deleted {
		node, err := t.nodes.Decode(e.Object)
		if err != nil {
			t.Log.Warn("cannot decode a node", "node", e.Key.Name, "error", err)
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
		t.Log.Warn("cannot list the Pods of a node", "node", e.Key.Name, "error", err)
	}
	for _, p := range pods {
		t.look(p)
	}
	return len(taints) > 0
}

func noExecute(spec tree.Tree) []tree.Tree {
	var taints []tree.Tree
	for _, t := range spec.Objects("taints") {
		if t.String("effect") == "NoExecute" {
			taints = append(taints, t)
		}
	}
	return taints
}

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

// look schedules or cancels the deletion of a Pod. It decodes only Pods on tainted nodes. If the
// taints change, toleration times still count from when the deletion was first scheduled.
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
			t.Log.Warn("cannot decode a Pod", "pod", o.Key.String(), "error", err)
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

// toleratedFor returns how long a Pod may stay: the shortest tolerationSeconds of the matching
// tolerations, or 0 if a taint is not tolerated or the seconds are negative. stays is true if there
// is no limit.
func toleratedFor(taints, tolerations []tree.Tree) (after time.Duration, stays bool) {
	stays = true
	for _, taint := range taints {
		tolerated := false
		for _, o := range tolerations {
			if !reconcile.ReadTaint(taint).ToleratedBy(o) {
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

// evict deletes a Pod that is due. It reads the Pod again, because taints and tolerations may have
// changed. It uses the Pod's own grace period, because the kubelet may still be running.
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
