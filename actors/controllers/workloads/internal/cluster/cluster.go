package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Manager is the name under which controllers of workloads own fields: that of the process in which other servers of
// this API run them, which tools look for.
const Manager = "kube-controller-manager"

// A Cluster is what the controllers see of the cluster, and how they change it.
// All controllers of a process share one, so that each kind is followed once. The caches of Pods and Nodes are there
// from the beginning; those of other kinds are made on demand, under mu, which is never held while a cache is used.
type Cluster struct {
	Naming *meta.Naming
	Names  Names
	Logger *slog.Logger
	Now    func() time.Time

	Pods  *Cache[*Pod]
	Nodes *Cache[*Node]

	store  reconcile.Store
	kinds  *catalog.Catalog
	events *eventWriter
	leader Leader

	mu    sync.Mutex // guards items
	items map[meta.GroupResource]*Cache[*Item]
}

// A Leader tells who runs controllers for the same cluster in another process: "" is nobody. It waits until that is
// known, or the context ends. The channel is closed when it changes.
// Two processes that both run controllers would each make the Pods that are missing, so the one that does not lead does
// nothing.
type Leader interface {
	Holder(ctx context.Context) (holder string, changed <-chan struct{})
}

// New makes a Cluster over a store, whose writes are admitted like those of clients. Nothing is followed yet.
func New(store reconcile.Store, kinds *catalog.Catalog, leader Leader, logger *slog.Logger) *Cluster {
	c := &Cluster{
		Naming: kinds.Naming(), Names: NewNames(kinds.Naming()), Logger: logger, Now: time.Now,
		store: store, kinds: kinds, leader: leader, items: map[meta.GroupResource]*Cache[*Item]{},
	}
	pods := reconcile.CoreKind(kinds, "Pod")
	c.Pods = newCache(store, pods, podView(pods, c.Names, logger))
	nodes := reconcile.CoreKind(kinds, "Node")
	c.Nodes = newCache(store, nodes, nodeView(nodes, c.Naming, logger))
	c.events = newEventWriter(store, reconcile.CoreKind(kinds, "Event"), logger)
	return c
}

// Items is the cache of a kind, which is made when it is first asked for. The group is in platform form.
// All who ask for a kind get the same cache, whichever controller is made first.
func (c *Cluster) Items(group, version, kind string) *Cache[*Item] {
	k := c.Kind(group, version, kind)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.items[k.Storage] == nil {
		items := newCache(c.store, k, itemView(k))
		items.namespaces = map[string]map[meta.Key]bool{}
		c.items[k.Storage] = items
	}
	return c.items[k.Storage]
}

// Kind is a kind that is read and written, but not followed. The group is in platform form.
func (c *Cluster) Kind(group, version, kind string) *schema.Kind {
	return c.kinds.ByGVK(meta.GroupVersionKind{Group: c.Naming.Translate(group), Version: version, Kind: kind}).Stored
}

// written brings what a write has answered into the cache of its kind.
// It happens before the write returns to the controller, which is what keeps a controller from deciding on a state older
// than its own writes. A kind that nobody follows has no cache.
func (c *Cluster) written(k *schema.Kind, r request.Result) {
	if r.Object == nil {
		return
	}
	if k.Storage == c.Pods.Kind.Storage {
		c.Pods.Written(reconcile.Event{Object: r.Object, Deleted: r.Deleted})
		return
	}
	c.mu.Lock()
	items := c.items[k.Storage]
	c.mu.Unlock()
	if items != nil {
		items.Written(reconcile.Event{Object: r.Object, Deleted: r.Deleted})
	}
}

// mutate does every write of the controllers but those of Events, so that none can bypass the caches.
func (c *Cluster) mutate(ctx context.Context, m request.Mutation) (*meta.Object, error) {
	m.FieldManager = cmp.Or(m.FieldManager, Manager)
	r, err := c.store.Mutate(ctx, m)
	if err != nil {
		return nil, err
	}
	if sub := m.Kind.Subresource(m.Subresource); sub != nil && sub.BodyKind != nil && r.Object != nil {
		// The answer is not the object, such as a Scale: what has come of that is read. If it cannot be, the watch will tell.
		o, err := c.store.Get(ctx, request.Get{Kind: m.Kind, Key: m.Key, Version: r.Object.Version})
		if err != nil {
			c.Logger.Debug("what was written cannot be read", "object", m.Key, "error", err)
		}
		c.written(m.Kind, request.Result{Object: o})
		return r.Object, nil
	}
	c.written(m.Kind, r)
	return r.Object, nil
}

// keyOf is the key that an object names in its metadata; the name is empty where the server is to generate it.
func keyOf(k *schema.Kind, object tree.Tree) meta.Key {
	metadata := object.Object("metadata")
	return meta.Key{GroupResource: k.Storage, Namespace: metadata.String("namespace"), Name: metadata.String("name")}
}

// Create creates an object; its name may be generated.
func (c *Cluster) Create(ctx context.Context, k *schema.Kind, object tree.Tree) (*meta.Object, error) {
	return c.mutate(ctx, request.Mutation{Kind: k, Key: keyOf(k, object), Change: request.Create{Object: object}})
}

// Update replaces an object, or its sub-resource, in the version that it names.
// A conflict is an error like others: the turn is taken again with the newer object.
func (c *Cluster) Update(ctx context.Context, k *schema.Kind, subresource string, object tree.Tree) (*meta.Object, error) {
	return c.mutate(ctx, request.Mutation{Kind: k, Key: keyOf(k, object), Subresource: subresource, Change: request.Update{Object: object}})
}

// Patch merges a change into an object with a uid, or into its sub-resource. A version of 0 means whatever version it
// has.
// The uid is always in it, so that a later object of the same name is not changed by mistake. The change is the caller's
// no more: metadata is added to it.
func (c *Cluster) Patch(ctx context.Context, k *schema.Kind, h *Head, version uint64, subresource string, change tree.Tree) (*meta.Object, error) {
	metadata := change.EnsureObject("metadata")
	metadata["uid"] = h.UID
	if version != 0 {
		metadata["resourceVersion"] = strconv.FormatUint(version, 10)
	}
	body, err := json.Marshal(change)
	if err != nil {
		return nil, err
	}
	return c.mutate(ctx, request.Mutation{Kind: k, Key: h.Key, Subresource: subresource, Change: request.Patch{Type: request.MergePatch, Body: body}})
}

// Bind puts a Pod on a node.
func (c *Cluster) Bind(ctx context.Context, p *Pod, node string) error {
	_, err := c.mutate(ctx, request.Mutation{Kind: c.Pods.Kind, Key: p.Key, Subresource: "binding", Change: request.Create{Object: tree.Tree{
		"apiVersion": "v1", "kind": "Binding", "metadata": tree.Tree{"name": p.Key.Name, "namespace": p.Key.Namespace, "uid": p.UID},
		"target": tree.Tree{"apiVersion": "v1", "kind": "Node", "name": node},
	}}})
	return err
}

// MarkUnschedulable says in the status of a Pod that no node has room for it, and why.
func (c *Cluster) MarkUnschedulable(ctx context.Context, p *Pod, message string) error {
	body, err := json.Marshal(tree.Tree{"metadata": tree.Tree{"uid": p.UID}, "status": tree.Tree{"conditions": []any{tree.Tree{
		"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message, "lastTransitionTime": c.Now().UTC().Format(time.RFC3339),
	}}}})
	if err != nil {
		return err
	}
	_, err = c.mutate(ctx, request.Mutation{Kind: c.Pods.Kind, Key: p.Key, Subresource: "status", Change: request.Patch{Type: request.StrategicMergePatch, Body: body}})
	return err
}

// RemoveFinalizer takes a finalizer from an object with a uid, whatever its version. An object that is gone is no error.
// It names no version, for other changes of the object do not matter to it and would only cause conflicts; the directive
// takes out one finalizer and leaves those of others, whatever they are by then.
func (c *Cluster) RemoveFinalizer(ctx context.Context, k *schema.Kind, h *Head, finalizer string) error {
	body, err := json.Marshal(tree.Tree{"metadata": tree.Tree{"uid": h.UID, "$deleteFromPrimitiveList/finalizers": []string{finalizer}}})
	if err != nil {
		return err
	}
	_, err = c.mutate(ctx, request.Mutation{Kind: k, Key: h.Key, Change: request.Patch{Type: request.StrategicMergePatch, Body: body}})
	if reconcile.IsNotFound(err) || reconcile.IsConflict(err) { // gone, or another one of that name
		return nil
	}
	return err
}

// Delete deletes an object with a uid. An object that is gone is no error.
// policy is the propagation policy; "" leaves it to the default of the kind.
func (c *Cluster) Delete(ctx context.Context, k *schema.Kind, h *Head, policy string) error {
	err := c.remove(ctx, k, h, policy)
	if reconcile.IsNotFound(err) {
		return nil
	}
	return err
}

// remove is Delete with an error for an object that is gone, for those who tell what they have deleted.
func (c *Cluster) remove(ctx context.Context, k *schema.Kind, h *Head, policy string) error {
	_, err := c.mutate(ctx, request.Mutation{Kind: k, Key: h.Key, Change: request.Delete{UID: &h.UID, PropagationPolicy: policy}})
	return err
}

// Read reads an object from the store; nil if it is not there.
// It is for what caches do not keep, and for decisions that must not be made on a state that may be old.
func (c *Cluster) Read(ctx context.Context, k *schema.Kind, key meta.Key) (*meta.Object, error) {
	o, err := c.store.Get(ctx, request.Get{Kind: k, Key: key})
	if reconcile.IsNotFound(err) {
		return nil, nil
	}
	return o, err
}

// WriteStatus writes the status of an object if it says anything else than it does.
// Without the comparison each turn would write, each write would change the object, and that would bring the next turn,
// without end. The result is nil if nothing was written.
func (c *Cluster) WriteStatus(ctx context.Context, k *schema.Kind, object, status tree.Tree) (*meta.Object, error) {
	if tree.SemanticEqual(object.Object("status"), status) {
		return nil, nil
	}
	changed := tree.Tree{"metadata": object["metadata"], "spec": object["spec"], "status": status}
	return c.Update(ctx, k, "status", changed)
}

// IsAlreadyExists reports whether the name is taken.
func IsAlreadyExists(err error) bool { return reconcile.HasReason(err, meta.ReasonAlreadyExists) }
