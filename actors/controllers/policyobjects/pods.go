package policyobjects

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/podsecurity"
)

var _ podsecurity.Objects = (*Reader)(nil)

func (r *Reader) Pods(namespace string) []podsecurity.ExistingPod {
	k := r.kinds.kind(meta.GroupResource{Resource: "pods"})
	if k == nil {
		return nil
	}
	stored, err := r.store.List(context.Background(), request.List{Kind: k, Namespace: namespace})
	if err != nil { // no Pods exist
		return nil
	}
	pods := make([]podsecurity.ExistingPod, len(stored.Items))
	for i, o := range stored.Items {
		controller := ""
		if owner := reconcile.ControllerOf(&o.Meta); owner != nil {
			controller = owner.UID
		}
		pods[i] = podsecurity.ExistingPod{Name: o.Key.Name, Controller: controller, Decode: func() tree.Tree {
			if object := r.decode(k, o); object != nil {
				return object.Tree
			}
			return nil
		}}
	}
	return pods
}
