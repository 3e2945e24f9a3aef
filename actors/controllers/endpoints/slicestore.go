package endpoints

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A sliceStore reads and writes the EndpointSlices that one controller manages.
type sliceStore struct {
	store   Store
	kind    *schema.Kind
	manager string // as slices name it

	// The labels by which slices are found, and the annotation that says when what changed them has happened.
	serviceLabel, managerLabel, headlessLabel, triggerAnnotation string
}

func newSliceStore(store Store, kinds *catalog.Catalog, manager string) sliceStore {
	n := kinds.Naming()
	return sliceStore{
		store: store, kind: kinds.ByGVK(meta.GroupVersionKind{Group: n.Group("discovery"), Version: "v1", Kind: "EndpointSlice"}), manager: managerName(n, manager),
		serviceLabel: n.Translate("platform.io/service-name"), managerLabel: n.Translate("endpointslice.platform.io/managed-by"),
		headlessLabel: n.Translate("service.platform.io/headless"), triggerAnnotation: n.Translate("endpoints.platform.io/last-change-trigger-time"),
	}
}

// managerName is the name of a controller, whose domain takes the suffix of groups.
func managerName(n *meta.Naming, name string) string {
	const suffix = ".platform.io"
	return n.Group(name[:len(name)-len(suffix)])
}

// An existingSlice is a stored slice.
type existingSlice struct {
	object *meta.Object
	tree   tree.Tree
}

// ownedBy tells whether an object owns the slice.
func (e existingSlice) ownedBy(o *meta.Object) bool {
	for _, owner := range e.object.Meta.OwnerReferences {
		if owner.UID == o.Meta.UID {
			return true
		}
	}
	return false
}

// list are the slices of the Service, or Endpoints, of a name.
func (s *sliceStore) list(ctx context.Context, key meta.Key) ([]existingSlice, error) {
	labels, _ := selector.FromLabelSelector(tree.Tree{"matchLabels": tree.Tree{s.serviceLabel: key.Name, s.managerLabel: s.manager}})
	list, err := s.store.List(ctx, request.List{Kind: s.kind, Namespace: key.Namespace, Labels: labels})
	if err != nil {
		return nil, err
	}
	all := make([]existingSlice, 0, len(list.Items))
	for _, o := range list.Items {
		object, err := codec.DecodeStored(s.kind.Message(), o.JSON)
		if err != nil {
			return nil, err
		}
		all = append(all, existingSlice{o, object})
	}
	return all, nil
}

// follow adds the owner of each slice to a queue that has changed, whoever changed it. A slice that somebody takes away
// from its manager is seen as well: its Service is looked at, and gets a new one.
func (s *sliceStore) follow(ctx context.Context, owners meta.GroupResource, queue *reconcile.Workqueue[meta.Key]) {
	managed := map[meta.Key]string{} // slice → its service
	reconcile.RunInformer(ctx, s.store, s.kind, reconcile.EventHandlerFunc(func(e reconcile.Event) {
		service, known := managed[e.Key]
		if manager, _ := e.Meta.Labels.Get(s.managerLabel); !e.Deleted && manager == s.manager {
			name, _ := e.Meta.Labels.Get(s.serviceLabel)
			if known && name != service {
				queue.Add(meta.Key{GroupResource: owners, Namespace: e.Key.Namespace, Name: service})
			}
			key := meta.Key{GroupResource: owners, Namespace: e.Key.Namespace, Name: name}.Clone()
			managed[e.Key] = key.Name
			queue.Add(key)
			return
		}
		if known {
			delete(managed, e.Key)
			queue.Add(meta.Key{GroupResource: owners, Namespace: e.Key.Namespace, Name: service})
		}
	}))
}

// create creates a slice.
func (s *sliceStore) create(ctx context.Context, x *slice, at time.Time) error {
	object := x.complete()
	s.annotate(object.EnsureObject("metadata"), at)
	key := meta.Key{GroupResource: s.kind.Storage, Namespace: object.Object("metadata").String("namespace")}
	return reconcile.Create(ctx, s.store, s.kind, key, object)
}

// replace stores a slice in place of the one that was read.
func (s *sliceStore) replace(ctx context.Context, x *slice, labels tree.Tree, at time.Time) error {
	object := x.complete()
	metadata := without(object.Object("metadata"))
	metadata["labels"] = labels
	s.annotate(metadata, at)
	object["metadata"] = metadata
	key := meta.Key{GroupResource: s.kind.Storage, Namespace: metadata.String("namespace"), Name: x.name}
	return reconcile.Replace(ctx, s.store, s.kind, &meta.Object{Key: key}, object)
}

// complete is the object of a slice with its endpoints.
func (x *slice) complete() tree.Tree {
	object := without(x.object)
	endpoints := make([]any, 0, len(x.endpoints))
	for _, e := range x.endpoints {
		endpoints = append(endpoints, e)
	}
	object["endpoints"] = endpoints
	return object
}

// annotate says when what changed the endpoints has happened; nothing if that is not known.
func (s *sliceStore) annotate(metadata tree.Tree, at time.Time) {
	annotations := without(metadata.Object("annotations"), s.triggerAnnotation)
	if annotations == nil {
		annotations = tree.Tree{}
	}
	if !at.IsZero() {
		annotations[s.triggerAnnotation] = at.UTC().Format(time.RFC3339Nano)
	}
	if delete(metadata, "annotations"); len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
}

// delete deletes a slice that has not changed.
func (s *sliceStore) delete(ctx context.Context, o *meta.Object) error {
	return reconcile.DeleteIfUnchanged(ctx, s.store, s.kind, o, "")
}

// deleteNamed deletes a slice.
func (s *sliceStore) deleteNamed(ctx context.Context, namespace, name string) error {
	key := meta.Key{GroupResource: s.kind.Storage, Namespace: namespace, Name: name}
	_, err := s.store.Mutate(ctx, request.Mutation{Kind: s.kind, Key: key, Change: request.Delete{}})
	if reconcile.IsNotFound(err) {
		return nil
	}
	return err
}

// controllerReference makes an object the owner of another one, and the one that manages it.
func controllerReference(kind string, o *meta.Object) tree.Tree {
	return tree.Tree{"apiVersion": "v1", "kind": kind, "name": o.Key.Name, "uid": o.Meta.UID, "controller": true, "blockOwnerDeletion": true}
}

// maxPrefix is the longest prefix that a generated name can have and still end in its own name and a dash.
const maxPrefix = 253

// sliceNamePrefix begins the names of the slices of a Service or Endpoints.
func sliceNamePrefix(name string) string {
	if len(name) >= maxPrefix {
		return name
	}
	return name + "-"
}
