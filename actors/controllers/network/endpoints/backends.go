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

// Backends tracks which Pods serve which Services. It keeps the relevant parts of the Pods that
// Services select, and watches Pods only while a Service has a selector. The controllers share one
// Backends, so that each Pod is decoded and kept only once.
//
// Lock order: mu is taken before the locks of work queues, because tell calls the functions in
// changed while it holds mu. These functions must not call Backends.
type Backends struct {
	*reconcile.Env
	client          reconcile.Client // of Pods
	services, nodes *reconcile.Informer
	running         reconcile.Exclusive
	selecting       chan struct{} // closed when Pods and nodes must be watched
	begin           func()        // closes it
	epoch           int           // number of the watch of Pods

	mu        sync.Mutex                                   // guards the fields below
	selectors reconcile.Index[string, string, podSelector] // namespace → name of the Service
	pods      map[meta.Key]*pod
	epochs    map[meta.Key]int                        // the last watch to deliver each; 0: none
	onNode    reconcile.Index[string, meta.Key, bool] // node → its Pods
	zones     map[string]meta.Text                    // node → zone
	changed   []func(service meta.Key)
}

// podSelector is a Service's selector. text is its canonical form for comparison.
type podSelector struct {
	text string
	selector.Labels
}

const zoneLabel = "topology.platform.io/zone"

// NewBackends returns a Backends that is idle until a controller runs it.
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

// onChange registers a function to call for each Service whose endpoints may have changed. It must
// be called before Run. do runs while mu is held and must not block.
func (b *Backends) onChange(do func(service meta.Key)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed = append(b.changed, do)
}

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

func (b *Backends) Wait(ctx context.Context) bool { return b.services.Wait(ctx) }

// noteService records the selector of a Service. It decodes the Service before it takes mu. An
// unreadable Service keeps its previous selector.
func (b *Backends) noteService(e reconcile.Event) {
	key := e.Key
	var now podSelector
	selects := false
	if !e.Deleted {
		object, err := b.services.Decode(e.Object)
		if err != nil {
			b.Log.Warn("cannot decode a Service", "key", key.String(), "error", err)
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

// setSelector updates the selector of a Service. It ignores an unchanged selector, because load
// lists Pods. It calls dropUnselected after setting the new selector, so that Pods that match both
// selectors are kept. The caller must hold mu.
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

func selectorText(spec tree.Tree) string {
	labels := spec.Object("selector")
	var terms []string
	for _, name := range labels.SortedKeys() {
		terms = append(terms, name+"="+labels.String(name))
	}
	return strings.Join(terms, ",")
}

// load lists the Pods that match a new selector, because the watch delivers only later changes. The
// caller must hold mu, so that watch events handled afterwards are newer. Listed Pods get epoch 0,
// which dropUnseen ignores, because they may be newer than the current watch's initial events.
func (b *Backends) load(namespace string, matching selector.Labels) {
	pods, err := b.client.List(context.Background(), request.List{Namespace: namespace, Labels: matching})
	if err != nil {
		b.Log.Warn("cannot list Pods", "namespace", namespace, "error", err)
		return
	}
	for _, o := range pods {
		b.keep(o, 0)
	}
}

// keep records a Pod and reports whether its endpoints have changed. It ignores a Pod that is not
// newer than the recorded one, because lists and watch events may arrive in any order. The caller
// must hold mu.
func (b *Backends) keep(o *meta.Object, epoch int) (changed bool) {
	old := b.pods[o.Key]
	if old != nil && old.version >= o.Version {
		b.epochs[old.key] = max(epoch, b.epochs[old.key])
		return false
	}
	object, err := b.client.Decode(o)
	if err != nil {
		b.Log.Warn("cannot decode a Pod", "key", o.Key.String(), "error", err)
		return false
	}
	now := newPod(o, object)
	if old != nil {
		b.forget(old)
	}
	b.pods[now.key], b.epochs[now.key] = now, epoch
	// Pods without a node are indexed under "".
	node := now.nodeName.String()
	b.onNode.Put(node, now.key, true)
	return old == nil || !now.sameEndpoints(old)
}

func (b *Backends) forget(p *pod) {
	delete(b.pods, p.key)
	delete(b.epochs, p.key)
	b.onNode.Delete(p.nodeName.String(), p.key)
}

// followPods starts a new epoch and returns the event handler of the new watch, which takes mu once
// per batch.
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

// notePod records a Pod. If its labels have changed, it also notifies the Services that selected it
// before. The caller must hold mu.
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

// dropPod must be called with mu held.
func (b *Backends) dropPod(key meta.Key) {
	old := b.pods[key]
	if old == nil {
		return
	}
	b.forget(old)
	b.tell(b.servicesOf(old.key.Namespace, old.labels)...)
}

// dropUnseen removes Pods that were deleted while no watch was running. The caller must hold mu.
func (b *Backends) dropUnseen(epoch int) {
	for key, seen := range b.epochs {
		if seen < epoch && seen > 0 {
			b.dropPod(key)
		}
	}
}

// dropUnselected removes the Pods in a namespace that no Service selects. It notifies no Service,
// because only the changed Service selected them, which noteService notifies. The caller must hold
// mu.
func (b *Backends) dropUnselected(namespace string) {
	for key, p := range b.pods {
		if key.Namespace == namespace && len(b.servicesOf(namespace, p.labels)) == 0 {
			b.forget(p)
		}
	}
}

// servicesOf must be called with mu held.
func (b *Backends) servicesOf(namespace string, labels meta.Labels) []meta.Key {
	var services []meta.Key
	for name, matching := range b.selectors[namespace] {
		if matching.Matches(labels) {
			services = append(services, meta.Key{GroupResource: meta.GroupResource{Resource: "services"}, Namespace: namespace, Name: name})
		}
	}
	return services
}

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

// tell notifies all controllers that the endpoints of the given Services may have changed.
// Duplicates are harmless. The caller must hold mu.
func (b *Backends) tell(services ...meta.Key) {
	for _, key := range services {
		for _, do := range b.changed {
			do(key)
		}
	}
}

// podsOf returns the Pods that a Service selects, sorted by name. It first waits for the initial
// list of nodes, because Pods on missing nodes are not endpoints. It omits listed Pods that are not
// in Backends yet, because their events will trigger another sync.
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

func (b *Backends) zoneOf(node string) (zone string, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, known := b.zones[node]
	return found.String(), known
}

// observe returns a Service with its target and Pods, and the time of the change that triggered
// this sync. o is nil if the Service does not exist, and t is nil if it has no selector.
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
