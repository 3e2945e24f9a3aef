package node

import (
	"github.com/troupe-api/troupe/kinds/meta"
)

// admitTokenRequest lets a node request only tokens that are bound to one of its Pods.
func (r *restriction) admitTokenRequest(a nodeAttributes) error {
	ref := a.New.Object("spec", "boundObjectRef")
	name, uid := ref.String("name"), ref.String("uid")
	if ref.String("kind") != "Pod" || ref.String("apiVersion") != "v1" || name == "" {
		return a.forbiddenf("node requested token not bound to a pod")
	}
	if uid == "" {
		return a.forbiddenf("node requested token with a pod binding without a uid")
	}
	pod := r.objects.Get(meta.GroupResource{Resource: "pods"}, a.Key.Namespace, name)
	switch {
	case pod == nil:
		return meta.NewNotFound(meta.GroupResource{Resource: "pods"}, name)
	case string(pod.Meta.UID) != uid:
		return a.forbiddenf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", uid)
	case nodeName(pod.Tree) != a.node:
		return a.forbiddenf("node requested token bound to a pod scheduled on a different node")
	}
	return nil
}
