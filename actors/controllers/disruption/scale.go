package disruption

import (
	"context"
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// scale returns the total replicas of the Pods' controllers, each counted once. Pods without a
// controller count as 0 and cause an Event. ReplicaSets of a Deployment count as the Deployment,
// because a rollout has Pods in several ReplicaSets. A missing controller is an error, because the
// total would be wrong.
func (b *Budgets) scale(ctx context.Context, o *meta.Object, budget tree.Tree, pods []budgetPod) (int64, error) {
	var total int64
	known := map[string]bool{} // by uid
	unmanaged := false
	for _, p := range pods {
		owner := reconcile.ControllerOf(&p.object.Meta)
		if owner == nil {
			unmanaged = true
			continue
		}
		if known[owner.UID] {
			continue
		}
		uid, n, err := b.scaleOf(ctx, p.object.Key.Namespace, owner)
		if err != nil {
			return 0, err
		}
		if uid == "" {
			return 0, fmt.Errorf("found no controllers for pod %q", p.name)
		}
		if known[owner.UID] = true; uid != owner.UID {
			if known[uid] {
				continue
			}
			known[uid] = true
		}
		total += n
	}
	if unmanaged {
		b.budgets.Warn(o, "UnmanagedPods", "Pods selected by this PodDisruptionBudget (selector: "+selectorText(budget)+") were found "+
			"to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. "+
			"To account for these pods please set \".spec.minAvailable\" field of the PDB to an integer value.")
	}
	return total, nil
}

func selectorText(budget tree.Tree) string {
	return strings.TrimPrefix(fmt.Sprintf("%v", map[string]any(budget.Object("spec", "selector"))), "map")
}

// scaleOf returns the uid and replicas of a controller, or of the Deployment that owns a
// ReplicaSet. uid is "" if the controller does not exist or its uid does not match the reference.
func (b *Budgets) scaleOf(ctx context.Context, namespace string, owner *meta.OwnerReference) (uid string, n int64, err error) {
	k := b.ClientOf(b.Kinds.ByGVK(meta.ParseGVK(owner.APIVersion, owner.Kind)))
	if k.Kind == nil {
		return "", 0, nil
	}
	key := k.Key(namespace, owner.Name)
	o, err := k.Get(ctx, key)
	if err != nil || o == nil || o.Meta.UID != owner.UID {
		return "", 0, err
	}
	if above := reconcile.ControllerOf(&o.Meta); k.Group == "apps" && k.Kind.Kind == "ReplicaSet" && above != nil && above.Kind == "Deployment" {
		return b.scaleOf(ctx, namespace, above)
	}
	if k.Subresource("scale") == nil {
		return "", 0, fmt.Errorf("%s.%s does not implement the scale subresource", k.Resource, k.Group)
	}
	n, err = b.replicas(ctx, k.Kind, key)
	return o.Meta.UID, n, err
}

// replicas reads the replicas of an object from its scale subresource, to support custom resources.
func (b *Budgets) replicas(ctx context.Context, k *schema.Kind, key meta.Key) (int64, error) {
	scale, err := b.Store.Get(ctx, request.Get{Kind: k, Key: key, Subresource: "scale"})
	if err != nil {
		return 0, err
	}
	object, _, err := codec.DecodeAny(scale.JSON)
	if err != nil {
		return 0, err
	}
	shown, _ := object.(tree.Tree)
	n, _ := shown.Object("spec").Int("replicas")
	return n, nil
}
