package endpoints

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Backends knows which Pods serve which Services, for the controllers that write that down. It keeps only Pods that some
// Service selects, and of those what counts; while no Service has a selector it does not watch Pods at all.
//
// The controllers share one Backends, so that each Pod is decoded once per version and kept in memory once.
//
// Order of locks: mu is taken before the locks of the work queues, for tell calls the functions of changed while it
// is held. These must not call back into Backends.
type Backends struct {
	*reconcile.Env
	client          reconcile.Client // of Pods
	services, nodes *reconcile.Informer
	running         reconcile.Exclusive
	selecting       chan struct{} // closed as soon as a Service selects anything: Pods and nodes are watched then
	begin           func()        // closes it
	epoch           int           // number of the watch of Pods

	mu        sync.Mutex                                   // guards what follows
	selectors reconcile.Index[string, string, podSelector] // namespace → name of the Service
	pods      map[meta.Key]*pod
	epochs    map[meta.Key]int                        // the watch of Pods by which each was seen last; 0: none
	onNode    reconcile.Index[string, meta.Key, bool] // node → its Pods
	zones     map[string]meta.Text                    // node → zone
	changed   []func(service meta.Key)
}

// A podSelector is the selector of a Service.
// The text is kept next to the parsed form since it is what two selectors are compared by.
type podSelector struct {
	text string
	selector.Labels
}

// The label of nodes that names their zone.
// It is translated to the naming of the installation before it is looked up.
const zoneLabel = "topology.platform.io/zone"

// NewBackends returns Backends, which do nothing before one of their controllers runs.
func NewBackends(env *reconcile.Env) *Backends {
	b := &Backends{
		Env: env, client: env.Core("Pod"), selecting: make(chan struct{}),
		selectors: reconcile.Index[string, string, podSelector]{}, pods: map[meta.Key]*pod{}, epochs: map[meta.Key]int{},
		onNode: reconcile.Index[string, meta.Key, bool]{}, zones: map[string]meta.Text{},
	}
	b.begin = sync.OnceFunc(func() { close(b.selecting) })
	b.services = &reconcile.Informer{Client: env.Core("Service"), On: b.noteService}
	b.nodes = &reconcile.Informer{Client: env.Core("Node"), On: b.noteNode}
	return b
}

// onChange has a function called with each Service whose endpoints may have changed. It is called with the lock held, and
// before run.
// The function must not block: it holds up the watches of Services, Pods and nodes.
func (b *Backends) onChange(do func(service meta.Key)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed = append(b.changed, do)
}

// Run implements reconcile.Source.
func (b *Backends) Run(ctx context.Context) {
	b.running.Run(ctx, func() {
		var watches sync.WaitGroup
		defer watches.Wait()
		watches.Go(func() {
			reconcile.When(b.selecting, func(ctx context.Context) { b.client.WatchLoop(ctx, b.followPods) })(ctx)
		})
		watches.Go(func() { reconcile.When(b.selecting, b.nodes.Run)(ctx) })
		b.services.Run(ctx)
	})
}

// Wait implements reconcile.Source.
func (b *Backends) Wait(ctx context.Context) bool { return b.services.Wait(ctx) }

// noteService notes the selector of a Service, and tells whether it has one.
// The Service is decoded and its selector parsed before the lock is taken. A Service that cannot be read keeps the
// selector that was known of it.
func (b *Backends) noteService(e reconcile.Event) {
	key := e.Key
	var now podSelector
	selects := false
	if !e.Deleted {
		object, err := b.services.Decode(e.Object)
		if err != nil {
			b.Log.Warn("a Service cannot be read", "key", key.String(), "error", err)
			return
		}
		if t, ok := newTarget(e.Object, object); ok {
			now.text = selectorText(t.spec)
			now.Labels, err = selector.ParseLabels(now.text)
			selects = err == nil
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.setSelector(key, now, selects)
	b.tell(key)
	if selects {
		b.begin()
	}
}

// setSelector notes which Pods a Service selects, if it does. The caller holds the lock.
//
// An unchanged selector returns early: most changes of a Service leave it alone, and load lists Pods. The new
// selector is in place before dropUnselected runs, so that Pods which both the old and the new one select are kept.
func (b *Backends) setSelector(key meta.Key, now podSelector, selects bool) {
	was, known := b.selectors[key.Namespace][key.Name]
	if known == selects && was.text == now.text {
		return
	}
	if selects {
		b.selectors.Put(key.Namespace, key.Name, now)
		b.load(key.Namespace, now.Labels)
	} else {
		b.selectors.Delete(key.Namespace, key.Name)
	}
	if known {
		b.dropUnselected(key.Namespace)
	}
}

// selectorText is the selector of a Service as text.
// The terms are sorted, since the order of a map is random and the text is compared with the one from before.
func selectorText(spec tree.Tree) string {
	labels := spec.Object("selector")
	var terms []string
	for _, name := range labels.SortedKeys() {
		terms = append(terms, name+"="+labels.String(name))
	}
	return strings.Join(terms, ",")
}

// load reads the Pods that a new selector selects. The caller holds the lock, so that what the watch tells of them
// afterwards is newer.
//
// The watch alone is not enough: it reports a Pod when that changes, and Pods that were reported while no selector
// matched them were not kept. What is listed gets epoch 0, which dropUnseen leaves alone: a Pod may have been
// created after the initial events of the present watch were collected.
func (b *Backends) load(namespace string, matching selector.Labels) {
	pods, err := b.client.List(context.Background(), request.List{Namespace: namespace, Labels: matching})
	if err != nil {
		b.Log.Warn("Pods cannot be listed", "namespace", namespace, "error", err)
		return
	}
	for _, o := range pods {
		b.keep(o, 0)
	}
}

// keep reads a Pod that is not known in this state, and tells whether its endpoints are others now. The caller holds the
// lock.
//
// List and watch may deliver in either order, so that a version that is not newer than the known one is ignored but
// for its epoch. onNode and pods are changed together, here and in forget: each key in onNode is also in pods.
func (b *Backends) keep(o *meta.Object, epoch int) (changed bool) {
	old := b.pods[o.Key]
	if old != nil && old.version >= o.Version {
		b.epochs[old.key] = max(epoch, b.epochs[old.key])
		return false
	}
	object, err := b.client.Decode(o)
	if err != nil {
		b.Log.Warn("a Pod cannot be read", "key", o.Key.String(), "error", err)
		return false
	}
	now := newPod(o, object)
	if old != nil {
		b.forget(old)
	}
	b.pods[now.key], b.epochs[now.key] = now, epoch
	// Pods without a node are kept under the empty name.
	node := now.nodeName.String()
	b.onNode.Put(node, now.key, true)
	return old == nil || !now.sameEndpoints(old)
}

// forget drops what is known of a Pod. The caller holds the lock.
func (b *Backends) forget(p *pod) {
	delete(b.pods, p.key)
	delete(b.epochs, p.key)
	b.onNode.Delete(p.nodeName.String(), p.key)
}

// followPods begins a watch of Pods, of that number.
// The lock is held for a whole batch of events, which is cheaper than to take it for each Pod.
func (b *Backends) followPods(int) func([]request.Event) error {
	b.epoch++
	epoch := b.epoch
	return func(events []request.Event) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		for i := range events {
			switch e := &events[i]; {
			case e.InitialEventsEnd:
				b.dropUnseen(epoch)
			case e.Type == request.Deleted:
				b.dropPod(e.Object.Key)
			case e.Type == request.Added, e.Type == request.Modified:
				b.notePod(e.Object, epoch)
			}
		}
		return nil
	}
}

// notePod notes the state of a Pod. The caller holds the lock.
//
// When the labels have changed, Services that selected the Pod before have lost an endpoint: they are told as well
// as those that select it now.
func (b *Backends) notePod(o *meta.Object, epoch int) {
	matches := b.servicesOf(o.Key.Namespace, o.Meta.Labels)
	old := b.pods[o.Key]
	if old == nil && len(matches) == 0 {
		return
	}
	var before []meta.Key
	if old != nil {
		before = b.servicesOf(old.key.Namespace, old.labels)
	}
	if len(matches) == 0 {
		b.dropPod(old.key)
		return
	}
	if b.keep(o, epoch) {
		b.tell(append(before, matches...)...)
	}
}

// dropPod forgets a Pod that is gone, or that nobody selects any more. The caller holds the lock.
func (b *Backends) dropPod(key meta.Key) {
	old := b.pods[key]
	if old == nil {
		return
	}
	b.forget(old)
	b.tell(b.servicesOf(old.key.Namespace, old.labels)...)
}

// dropUnseen forgets the Pods that a watch has not told of: they were deleted before it. The caller holds the lock.
// Without this, Pods that were deleted while no watch ran would stay in memory for ever.
func (b *Backends) dropUnseen(epoch int) {
	for key, seen := range b.epochs {
		if seen < epoch && seen > 0 {
			b.dropPod(key)
		}
	}
}

// dropUnselected forgets the Pods of a namespace that no Service selects any more. The caller holds the lock.
// It tells no Service: the one whose selector has changed is told by noteService, and no other one selected these
// Pods.
func (b *Backends) dropUnselected(namespace string) {
	for key, p := range b.pods {
		if key.Namespace == namespace && len(b.servicesOf(namespace, p.labels)) == 0 {
			b.forget(p)
		}
	}
}

// servicesOf are the Services that select Pods of these labels. The caller holds the lock.
func (b *Backends) servicesOf(namespace string, labels meta.Labels) []meta.Key {
	var services []meta.Key
	for name, matching := range b.selectors[namespace] {
		if matching.Matches(labels) {
			services = append(services, meta.Key{GroupResource: meta.GroupResource{Resource: "services"}, Namespace: namespace, Name: name})
		}
	}
	return services
}

// noteNode takes in the zone of a node.
func (b *Backends) noteNode(e reconcile.Event) {
	zone, _ := e.Meta.Labels.Get(b.Translate(zoneLabel))
	b.mu.Lock()
	defer b.mu.Unlock()
	was, known := b.zones[e.Key.Name]
	switch {
	case e.Deleted:
		delete(b.zones, e.Key.Name)
	case known && was.String() == zone:
		return
	default:
		b.zones[e.Key.Name] = meta.NewText(zone)
	}
	for key := range b.onNode[e.Key.Name] {
		b.tell(b.servicesOf(key.Namespace, b.pods[key].labels)...)
	}
}

// tell has the endpoints of Services looked at. The caller holds the lock.
// Queues are keyed by Service, so that it does no harm to name one twice.
func (b *Backends) tell(services ...meta.Key) {
	for _, key := range services {
		for _, do := range b.changed {
			do(key)
		}
	}
}

// podsOf are the Pods that a Service selects, in the order of their names. It waits until nodes are known, for a Pod on a
// node that does not exist serves nobody.
//
// The store decides which Pods there are, and memory what is known of each. A Pod that is listed but not in memory
// yet is left out; its event is still to come and has the Service looked at again. So is one whose state in memory
// is older than the listed one.
func (b *Backends) podsOf(ctx context.Context, t *target) ([]*pod, error) {
	if !b.nodes.Wait(ctx) {
		return nil, ctx.Err()
	}
	list, err := b.client.List(ctx, request.List{Namespace: t.object.Key.Namespace, Labels: t.selector})
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var pods []*pod
	for _, o := range list {
		if p := b.pods[o.Key]; p != nil {
			pods = append(pods, p)
		}
	}
	return pods, nil
}

// zoneOf is the zone of a node; known is false if there is no such node.
func (b *Backends) zoneOf(node string) (zone string, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, known := b.zones[node]
	return found.String(), known
}

// observe returns a Service that selects Pods, with these Pods and the time of the change that triggered the look; t is
// nil if it selects none, and o if it does not exist.
func (b *Backends) observe(ctx context.Context, key meta.Key, triggers *triggerTimes) (o *meta.Object, t *target, pods []*pod, at time.Time, err error) {
	o, object, err := b.services.Read(ctx, key)
	if err != nil {
		return nil, nil, nil, at, err
	}
	if o != nil {
		t, _ = newTarget(o, object)
	}
	if t == nil {
		triggers.forget(key)
		return o, nil, nil, at, nil
	}
	if pods, err = b.podsOf(ctx, t); err == nil {
		at = triggers.changed(t, pods)
	}
	return o, t, pods, at, err
}
