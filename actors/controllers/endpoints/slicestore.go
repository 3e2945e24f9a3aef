package endpoints

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A sliceStore reads and writes the EndpointSlices that one controller manages.
type sliceStore struct {
	slices  reconcile.Client
	manager string // value of the label of its slices

	// The labels by which slices are found, and the annotation that says when what changed them has happened.
	serviceLabel, managerLabel, headlessLabel, triggerAnnotation string
}

func newSliceStore(env *reconcile.Env, manager string) sliceStore {
	return sliceStore{
		slices: env.Client("discovery.platform.io", "v1", "EndpointSlice"), manager: managerName(env.Naming, manager),
		serviceLabel: env.Translate("platform.io/service-name"), managerLabel: env.Translate("endpointslice.platform.io/managed-by"),
		headlessLabel: env.Translate("service.platform.io/headless"), triggerAnnotation: env.Translate("endpoints.platform.io/last-change-trigger-time"),
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
	list, err := s.slices.List(ctx, request.List{Namespace: key.Namespace, Labels: labels})
	if err != nil {
		return nil, err
	}
	all := make([]existingSlice, 0, len(list))
	for _, o := range list {
		object, err := s.slices.Decode(o)
		if err != nil {
			return nil, err
		}
		all = append(all, existingSlice{o, object})
	}
	return all, nil
}

// follow adds the owner of each slice to a queue that has changed, whoever changed it. A slice that somebody takes away
// from its manager is seen as well: its Service is looked at, and gets a new one.
func (s *sliceStore) follow(c *reconcile.Controller[meta.Key], owners reconcile.Client) {
	managed := map[meta.Key]string{}
	c.Watch(s.slices, func(e reconcile.Event) {
		service, known := managed[e.Key]
		if manager, _ := e.Meta.Labels.Get(s.managerLabel); !e.Deleted && manager == s.manager {
			name, _ := e.Meta.Labels.Get(s.serviceLabel)
			if known && name != service {
				c.Add(owners.Key(e.Key.Namespace, service))
			}
			key := owners.Key(e.Key.Namespace, name).Clone()
			managed[e.Key] = key.Name
			c.Add(key)
			return
		}
		if known {
			delete(managed, e.Key)
			c.Add(owners.Key(e.Key.Namespace, service))
		}
	})
}

// write carries out a plan for the slices of an owner. Kept ones get the labels; nil leaves those that they have.
func (s *sliceStore) write(ctx context.Context, owner *meta.Object, plan slicePlan, labels tree.Tree, at time.Time) error {
	for _, x := range plan.created {
		if owner.Meta.Terminating {
			break
		}
		object := x.complete()
		s.annotate(object.EnsureObject("metadata"), at)
		_, err := s.slices.Create(ctx, object)
		if err = reconcile.Except(err, reconcile.IsNamespaceTerminating, reconcile.IsNotFound); err != nil {
			return err
		}
	}
	for _, x := range plan.kept {
		relabel := labels != nil && !tree.SemanticEqual(x.object.Object("metadata", "labels"), labels)
		if !x.changed && !relabel {
			continue
		}
		object := x.complete()
		metadata := without(object.Object("metadata"))
		if metadata["name"] = x.name; relabel {
			metadata["labels"] = labels
		}
		s.annotate(metadata, at)
		object["metadata"] = metadata
		if _, err := s.slices.Update(ctx, "", object); err != nil {
			return err
		}
	}
	for _, x := range plan.emptied {
		if err := s.slices.DeleteKey(ctx, s.slices.Key(owner.Key.Namespace, x.name), request.Delete{}); err != nil {
			return err
		}
	}
	return nil
}

// complete is the object of a slice with its endpoints.
func (x *slice) complete() tree.Tree {
	object := without(x.object)
	object["endpoints"] = tree.ListOf(x.endpoints)
	return object
}

// annotate says when what changed the endpoints has happened; nothing if that is not known.
func (s *sliceStore) annotate(metadata tree.Tree, at time.Time) {
	annotations := without(metadata.Object("annotations"), s.triggerAnnotation)
	if !at.IsZero() {
		annotations[s.triggerAnnotation] = at.UTC().Format(time.RFC3339Nano)
	}
	if delete(metadata, "annotations"); len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
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
