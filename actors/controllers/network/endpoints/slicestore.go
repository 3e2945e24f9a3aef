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

type sliceStore struct {
	slices  reconcile.Client
	manager string // value of the manager label

	// Names of the labels that identify managed slices, and of the annotation that holds the
	// trigger time.
	serviceLabel, managerLabel, headlessLabel, triggerAnnotation string
}

func newSliceStore(env *reconcile.Env, manager string) sliceStore {
	return sliceStore{
		slices: env.Client("discovery.platform.io", "v1", "EndpointSlice"), manager: managerName(env.Naming, manager),
		serviceLabel: env.Translate("platform.io/service-name"), managerLabel: env.Translate("endpointslice.platform.io/managed-by"),
		headlessLabel: env.Translate("service.platform.io/headless"), triggerAnnotation: env.Translate("endpoints.platform.io/last-change-trigger-time"),
	}
}

func managerName(n *meta.Naming, name string) string {
	const suffix = ".platform.io"
	return n.Group(name[:len(name)-len(suffix)])
}

type existingSlice struct {
	object *meta.Object
	tree   tree.Tree
}

func (e existingSlice) ownedBy(o *meta.Object) bool {
	for _, owner := range e.object.Meta.OwnerReferences {
		if owner.UID == o.Meta.UID {
			return true
		}
	}
	return false
}

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

// follow enqueues the owner of each changed slice, even if the slice has lost its managed-by label.
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

// write applies a plan. It sets labels on kept slices unless labels is nil.
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
		relabel := labels != nil && !tree.SemanticEqual(x.object.Labels(), labels)
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

func (x *slice) complete() tree.Tree {
	object := without(x.object)
	object["endpoints"] = tree.ListOf(x.endpoints)
	return object
}

func (s *sliceStore) annotate(metadata tree.Tree, at time.Time) {
	annotations := without(metadata.Object("annotations"), s.triggerAnnotation)
	if !at.IsZero() {
		annotations[s.triggerAnnotation] = at.UTC().Format(time.RFC3339Nano)
	}
	if delete(metadata, "annotations"); len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
}

// maxPrefix is the maximum length of generateName, including the dash.
const maxPrefix = 253

func sliceNamePrefix(name string) string {
	if len(name) >= maxPrefix {
		return name
	}
	return name + "-"
}
