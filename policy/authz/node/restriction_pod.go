package node

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

// admitPod lets a node write mirror Pods, and the status of Pods that are bound to it.
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
		if pod != nil && nodeName(pod.Tree) != a.node {
			return a.forbiddenf("node %s can only evict pods with spec.nodeName set to itself", a.node)
		}
		return nil
	}
	return a.forbiddenf("unexpected pod subresource %q, only 'status' and 'eviction' are allowed", a.Subresource)
}

func admitPodStatus(a nodeAttributes) error {
	switch {
	case a.operation() != "UPDATE":
		return a.forbiddenf("unexpected operation %q", a.operation())
	case nodeName(a.Old) != a.node:
		return a.forbiddenf("node %q can only update pod status for pods with spec.nodeName set to itself", a.node)
	case !tree.SemanticEqual(a.Old.Object("metadata")["labels"], a.New.Object("metadata")["labels"]):
		return a.forbiddenf("node %q cannot update labels through pod status", a.node)
	case !tree.SemanticEqual(a.Old.Object("status")["resourceClaimStatuses"], a.New.Object("status")["resourceClaimStatuses"]):
		return a.forbiddenf("node %q cannot update resource claim statuses", a.node)
	}
	return nil
}

// admitMirrorPod lets a node create only Pods that show what already runs on it: bound to the node,
// owned by it, and naming no other object, because naming one would give the node access to it.
func (r *restriction) admitMirrorPod(a nodeAttributes) error {
	if !a.New.Object("metadata", "annotations").Has(r.mirrorAnnotation) {
		return a.forbiddenf("pod does not have %q annotation, node %q can only create mirror pods", r.mirrorAnnotation, a.node)
	}
	if nodeName(a.New) != a.node {
		return a.forbiddenf("node %q can only create pods with spec.nodeName set to itself", a.node)
	}
	if err := r.checkOwnerNode(a); err != nil {
		return err
	}
	words := map[vertexKind]string{
		serviceAccountVertex: "a service account", secretVertex: "secrets", configMapVertex: "configmaps",
		pvcVertex: "persistentvolumeclaims", resourceClaimVertex: "resourceclaims",
	}
	for _, v := range podReferences(&policy.Object{Key: a.Key, Tree: a.New}) {
		return a.forbiddenf("node %q can not create pods that reference %s", a.node, words[v.kind])
	}
	for _, volume := range a.New.Object("spec").Objects("volumes") {
		for _, source := range volume.Object("projected").Objects("sources") {
			for name, word := range map[string]string{"clusterTrustBundle": "clustertrustbundles", "serviceAccountToken": "a service account", "podCertificate": "podcertificates"} {
				if source.Has(name) {
					return a.forbiddenf("node %q can not create pods that reference %s", a.node, word)
				}
			}
		}
	}
	if len(a.New.Object("spec").List("resourceClaims")) > 0 {
		return a.forbiddenf("node %q can not create pods that reference resourceclaims", a.node)
	}
	return nil
}

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
		return a.forbiddenf("UID mismatch: owner reference specified UID %s, expected %s", uid, own.Meta.UID)
	}
	return nil
}
