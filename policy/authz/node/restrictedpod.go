package node

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
)

// pod: a node writes mirror Pods, and the status of those that are bound to it.
func (r *restriction) pod(a attempt) error {
	switch a.Subresource {
	case "":
		switch a.verb() {
		case "CREATE":
			return r.mirrored(a)
		case "DELETE":
			if nodeName(a.Old) != a.node {
				return a.refuse("node %q can only delete pods with spec.nodeName set to itself", a.node)
			}
			return nil
		}
		return a.refuse("unexpected operation %q, node %q can only create and delete mirror pods", a.verb(), a.node)
	case "status":
		return podStatus(a)
	case "eviction":
		pod := r.objects.Get(meta.GroupResource{Resource: "pods"}, a.Key.Namespace, a.Key.Name)
		if pod != nil && nodeName(pod.Tree) != a.node {
			return a.refuse("node %s can only evict pods with spec.nodeName set to itself", a.node)
		}
		return nil
	}
	return a.refuse("unexpected pod subresource %q, only 'status' and 'eviction' are allowed", a.Subresource)
}

func podStatus(a attempt) error {
	switch {
	case a.verb() != "UPDATE":
		return a.refuse("unexpected operation %q", a.verb())
	case nodeName(a.Old) != a.node:
		return a.refuse("node %q can only update pod status for pods with spec.nodeName set to itself", a.node)
	case !rules.Equal(rules.Sub(a.Old, "metadata")["labels"], rules.Sub(a.New, "metadata")["labels"]):
		return a.refuse("node %q cannot update labels through pod status", a.node)
	case !rules.Equal(rules.Sub(a.Old, "status")["resourceClaimStatuses"], rules.Sub(a.New, "status")["resourceClaimStatuses"]):
		return a.refuse("node %q cannot update resource claim statuses", a.node)
	}
	return nil
}

// mirrored: a Pod that a node makes only shows what already runs there. It is bound to the node,
// owned by it, and leads to no other object.
func (r *restriction) mirrored(a attempt) error {
	if !rules.Has(rules.Sub(a.New, "metadata", "annotations"), r.mirror) {
		return a.refuse("pod does not have %q annotation, node %q can only create mirror pods", r.mirror, a.node)
	}
	if nodeName(a.New) != a.node {
		return a.refuse("node %q can only create pods with spec.nodeName set to itself", a.node)
	}
	if err := r.ownedByNode(a); err != nil {
		return err
	}
	words := map[sort]string{
		ofAccount: "a service account", ofSecret: "secrets", ofConfigMap: "configmaps",
		ofClaim: "persistentvolumeclaims", ofResourceClaim: "resourceclaims",
	}
	for _, v := range podNeeds(&policy.Object{Key: a.Key, Tree: a.New}) {
		return a.refuse("node %q can not create pods that reference %s", a.node, words[v.sort])
	}
	for _, volume := range rules.Trees(rules.Sub(a.New, "spec"), "volumes") {
		for _, source := range rules.Trees(rules.Sub(volume, "projected"), "sources") {
			for name, word := range map[string]string{"clusterTrustBundle": "clustertrustbundles", "serviceAccountToken": "a service account", "podCertificate": "podcertificates"} {
				if rules.Has(source, name) {
					return a.refuse("node %q can not create pods that reference %s", a.node, word)
				}
			}
		}
	}
	if len(rules.Items(rules.Sub(a.New, "spec"), "resourceClaims")) > 0 {
		return a.refuse("node %q can not create pods that reference resourceclaims", a.node)
	}
	return nil
}

func (r *restriction) ownedByNode(a attempt) error {
	owners := rules.Trees(rules.Sub(a.New, "metadata"), "ownerReferences")
	if len(owners) > 1 {
		return a.refuse("node %q can only create pods with a single owner reference set to itself", a.node)
	}
	owner := schema.Tree{}
	if len(owners) == 1 {
		owner = owners[0]
	}
	switch {
	case rules.Text(owner, "apiVersion") != "v1" || rules.Text(owner, "kind") != "Node" || rules.Text(owner, "name") != a.node:
		return a.refuse("node %q can only create pods with an owner reference set to itself", a.node)
	case !rules.Flag(owner, "controller"):
		return a.refuse("node %q can only create pods with a controller owner reference set to itself", a.node)
	case rules.Flag(owner, "blockOwnerDeletion"):
		return a.refuse("node %q must not set blockOwnerDeletion on an owner reference", a.node)
	}
	own := r.objects.Get(meta.GroupResource{Resource: "nodes"}, "", a.node)
	if own == nil {
		return meta.NewNotFound(meta.GroupResource{Resource: "nodes"}, a.node)
	}
	if uid := rules.Text(owner, "uid"); uid != string(own.Head.UID) {
		return a.refuse("UID mismatch: owner reference specified UID %s, expected %s", uid, own.Head.UID)
	}
	return nil
}
