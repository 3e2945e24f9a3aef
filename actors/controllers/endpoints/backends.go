package endpoints

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
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
	store  Store
	kinds  *catalog.Catalog
	logger *slog.Logger
	kind   *schema.Kind // of Pods

	running    sync.Once
	watching   sync.Once
	nodesKnown chan struct{} // closed when the zones of all nodes are known

	mu        sync.Mutex                        // guards what follows
	selectors map[string]map[string]podSelector // namespace → name of the Service
	pods      map[meta.Key]*pod
	epochs    map[meta.Key]int             // the watch of Pods by which each was seen last; 0: none
	onNode    map[string]map[meta.Key]bool // node → its Pods
	zones     map[string]meta.Text         // node → zone
	changed   []func(service meta.Key)
}

// A podSelector is the selector of a Service.
// The text is kept next to the parsed form since it is what two selectors are compared by.
type podSelector struct {
	text string
	selector.Labels
}

// Store is what these controllers need of the store.
type Store = reconcile.Store

// The label of nodes that names their zone.
// It is translated to the naming of the installation before it is looked up.
const zoneLabel = "topology.platform.io/zone"

// NewBackends makes one for the kinds of a catalogue. It does nothing before one of its controllers runs.
func NewBackends(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Backends {
	return &Backends{
		store: store, kinds: kinds, logger: logger, kind: reconcile.CoreKind(kinds, "Pod"), nodesKnown: make(chan struct{}),
		selectors: map[string]map[string]podSelector{}, pods: map[meta.Key]*pod{}, epochs: map[meta.Key]int{},
		onNode: map[string]map[meta.Key]bool{}, zones: map[string]meta.Text{},
	}
}

// onChange has a function called with each Service whose endpoints may have changed. It is called with the lock held, and
// before run.
// The function must not block: it holds up the watches of Services, Pods and nodes.
func (b *Backends) onChange(do func(service meta.Key)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed = append(b.changed, do)
}

// run follows Services, and Pods as soon as one of them is selected, until the context ends. Of several calls the first
// one works.
//
// Each controller on top calls it, in whichever order they start. The others block until the first call returns, so
// that none of them outlives the watches.
func (b *Backends) run(ctx context.Context) {
	b.running.Do(func() {
		var watches sync.WaitGroup
		defer watches.Wait()
		services := reconcile.CoreKind(b.kinds, "Service")
		reconcile.RunInformer(ctx, b.store, services, reconcile.EventHandlerFunc(func(e reconcile.Event) {
			if b.noteService(services, e) {
				// Once begun, the two watches stay until the end, even if the last selector goes: notePod then drops
				// what nobody selects.
				b.watching.Do(func() {
					watches.Go(func() { reconcile.WatchLoop(ctx, b.store, b.kind, b.followPods) })
					watches.Go(func() { reconcile.RunInformer(ctx, b.store, reconcile.CoreKind(b.kinds, "Node"), nodeHandler{b}) })
				})
			}
		}))
	})
}

// noteService notes the selector of a Service, and tells whether it has one.
// The Service is decoded and its selector parsed before the lock is taken. A Service that cannot be read keeps the
// selector that was known of it.
func (b *Backends) noteService(k *schema.Kind, e reconcile.Event) (selects bool) {
	key := e.Key
	var now podSelector
	if !e.Deleted {
		object, err := codec.DecodeStored(k.Message(), e.JSON)
		if err != nil {
			b.logger.Warn("a Service cannot be read", "key", key.String(), "error", err)
			return false
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
	return selects
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
	if b.selectors[key.Namespace] == nil {
		b.selectors[key.Namespace] = map[string]podSelector{}
	}
	if selects {
		b.selectors[key.Namespace][key.Name] = now
		b.load(key.Namespace, now.Labels)
	} else {
		delete(b.selectors[key.Namespace], key.Name)
	}
	if known {
		b.dropUnselected(key.Namespace)
	}
	if len(b.selectors[key.Namespace]) == 0 {
		delete(b.selectors, key.Namespace)
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
	list, err := b.store.List(context.Background(), request.List{Kind: b.kind, Namespace: namespace, Labels: matching})
	if err != nil {
		b.logger.Warn("Pods cannot be listed", "namespace", namespace, "error", err)
		return
	}
	for _, o := range list.Items {
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
	object, err := codec.DecodeStored(b.kind.Message(), o.JSON)
	if err != nil {
		b.logger.Warn("a Pod cannot be read", "key", o.Key.String(), "error", err)
		return false
	}
	now := newPod(o, object)
	if old != nil {
		b.forget(old)
	}
	b.pods[now.key], b.epochs[now.key] = now, epoch
	// Pods without a node are kept under the empty name.
	node := now.nodeName.String()
	if b.onNode[node] == nil {
		b.onNode[node] = map[meta.Key]bool{}
	}
	b.onNode[node][now.key] = true
	return old == nil || !now.sameEndpoints(old)
}

// forget drops what is known of a Pod. The caller holds the lock.
func (b *Backends) forget(p *pod) {
	delete(b.pods, p.key)
	delete(b.epochs, p.key)
	node := p.nodeName.String()
	if delete(b.onNode[node], p.key); len(b.onNode[node]) == 0 {
		delete(b.onNode, node)
	}
}

// followPods begins a watch of Pods, of that number.
// The lock is held for a whole batch of events, which is cheaper than to take it for each Pod.
func (b *Backends) followPods(epoch int) func([]request.Event) error {
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

// nodeHandler follows nodes.
// It is a type of its own since OnSynced and OnEvent would otherwise be methods of Backends, which follows several
// kinds.
type nodeHandler struct{ *Backends }

// OnSynced implements reconcile.EventHandler.
func (b nodeHandler) OnSynced() { close(b.nodesKnown) }

// OnEvent notes in which zone a node is, and has the Services looked at that have Pods there.
// A heartbeat of a node that leaves its zone as it is wakes nobody: with many nodes, heartbeats are the most
// frequent writes of all.
func (b nodeHandler) OnEvent(e reconcile.Event) {
	zone, _ := e.Meta.Labels.Get(b.kinds.Naming().Translate(zoneLabel))
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
	select {
	case <-b.nodesKnown:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	list, err := b.store.List(ctx, request.List{Kind: b.kind, Namespace: t.object.Key.Namespace, Labels: t.selector})
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var pods []*pod
	for _, o := range list.Items {
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
