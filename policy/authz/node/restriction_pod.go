package node

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// admitPod lets a node create and delete mirror Pods, update the status of its Pods, and evict
// them. A node cannot change the spec of a Pod. Evicting a Pod that does not exist returns 404.
func (r *restriction) admitPod(a nodeAttributes) error {
	switch a.Subresource {
	case "":
		switch a.operation() {
		case "CREATE":
			return r.admitMirrorPod(a)
		case "DELETE":
			if nodeName(a.Old) != a.node {
				return a.forbiddenf("node %q can only delete pods with spec.nodeName set to itself", a.node)
			}
			return nil
		}
		return a.forbiddenf("unexpected operation %q, node %q can only create and delete mirror pods", a.operation(), a.node)
	case "status":
		return admitPodStatus(a)
	case "eviction":
		pod := r.objects.Get(meta.GroupResource{Resource: "pods"}, a.Key.Namespace, a.Key.Name)
		if pod == nil {
			return meta.NewNotFound(meta.GroupResource{Resource: "pods"}, a.Key.Name)
		}
		if nodeName(pod.Tree) != a.node {
			return a.forbiddenf("node %s can only evict pods with spec.nodeName set to itself", a.node)
		}
		return nil
	}
	return a.forbiddenf("unexpected pod subresource %q, only 'status' and 'eviction' are allowed", a.Subresource)
}

// admitPodStatus lets a node update the status of its Pods, but not their labels. It must check
// labels, because status updates may change metadata, and Services select Pods by label.
func admitPodStatus(a nodeAttributes) error {
	was, now := a.Old.Object("status"), a.New.Object("status")
	switch {
	case a.operation() != "UPDATE":
		return a.forbiddenf("unexpected operation %q", a.operation())
	case nodeName(a.Old) != a.node:
		return a.forbiddenf("node %q can only update pod status for pods with spec.nodeName set to itself", a.node)
	case !tree.SemanticEqual(a.Old.Object("metadata")["labels"], a.New.Object("metadata")["labels"]):
		return a.forbiddenf("node %q cannot update labels through pod status", a.node)
	case !tree.SemanticEqual(was["resourceClaimStatuses"], now["resourceClaimStatuses"]):
		return a.forbiddenf("node %q cannot update resource claim statues", a.node)
	case !tree.SemanticEqual(was["extendedResourceClaimStatus"], now["extendedResourceClaimStatus"]):
		return a.forbiddenf("node %q cannot update extended resource claim status", a.node)
	case !tree.SemanticEqual(was["nodeAllocatableResourceClaimStatuses"], now["nodeAllocatableResourceClaimStatuses"]):
		return a.forbiddenf("node %q cannot update node allocatable resource claim statuses", a.node)
	}
	return nil
}

// admitMirrorPod lets a node create only mirror Pods. They must be bound to the node, be owned by
// it, and not refer to other objects, because references would grant the node access.
func (r *restriction) admitMirrorPod(a nodeAttributes) error {
	if !a.New.Annotations().Has(r.mirrorAnnotation) {
		return a.forbiddenf("pod does not have %q annotation, node %q can only create mirror pods", r.mirrorAnnotation, a.node)
	}
	if nodeName(a.New) != a.node {
		return a.forbiddenf("node %q can only create pods with spec.nodeName set to itself", a.node)
	}
	if err := r.checkOwnerNode(a); err != nil {
		return err
	}
	named, err := apiReference(a.New, a.Key)
	if err != nil {
		return a.forbiddenf("error checking mirror pod for API references: %v", err)
	}
	if named != "" {
		return a.forbiddenf("node %q can not create pods that reference %s", a.node, named)
	}
	return nil
}

// checkOwnerNode requires a mirror Pod to be owned by the Node with the current uid, so that the
// Pod is deleted with the Node. The owner reference must not have blockOwnerDeletion.
func (r *restriction) checkOwnerNode(a nodeAttributes) error {
	owners := a.New.Object("metadata").Objects("ownerReferences")
	if len(owners) > 1 {
		return a.forbiddenf("node %q can only create pods with a single owner reference set to itself", a.node)
	}
	owner := tree.Tree{}
	if len(owners) == 1 {
		owner = owners[0]
	}
	switch {
	case owner.String("apiVersion") != "v1" || owner.String("kind") != "Node" || owner.String("name") != a.node:
		return a.forbiddenf("node %q can only create pods with an owner reference set to itself", a.node)
	case !owner.Bool("controller"):
		return a.forbiddenf("node %q can only create pods with a controller owner reference set to itself", a.node)
	case owner.Bool("blockOwnerDeletion"):
		return a.forbiddenf("node %q must not set blockOwnerDeletion on an owner reference", a.node)
	}
	own := r.objects.Get(meta.GroupResource{Resource: "nodes"}, "", a.node)
	if own == nil {
		return meta.NewNotFound(meta.GroupResource{Resource: "nodes"}, a.node)
	}
	if uid := owner.String("uid"); uid != string(own.Meta.UID) {
		return a.forbiddenf("node %s UID mismatch: expected %s got %s", a.node, uid, own.Meta.UID)
	}
	return nil
}
