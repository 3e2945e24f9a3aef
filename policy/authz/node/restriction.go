package node

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authn"
)

// Restriction lets nodes write only what belongs to them: their own Node, Lease and
// CSINode, mirror Pods and the status of the Pods that are bound to them, and tokens for these. It
// runs only where it is switched on; without it, the Authorizer alone lets a node write too much.
func Restriction(naming *meta.Naming, objects policy.Objects) admission.Registration {
	r := &restriction{
		objects:          objects,
		mirrorAnnotation: naming.Translate("platform.io/config.mirror"),
		leaseNamespace:   naming.NodeLeaseNamespace(),
		labels:           newNodeLabelPolicy(naming),
		signers:          map[string]bool{naming.Translate("platform.io/node-serving"): true, naming.Translate("platform.io/apiserver-client-node"): true},
	}
	return admission.Registration{
		Name: "NodeRestriction", DisabledByDefault: true, Plugin: r, Users: isNode,
		Resources: []string{
			"/pods", "/pods/status", "/pods/eviction", "/pods/binding", "/pods/ephemeralcontainers", "/pods/resize",
			"/nodes", "/nodes/status", "/persistentvolumeclaims", "/persistentvolumeclaims/status", "/serviceaccounts/token",
			"coordination.platform.io/leases", "storage.platform.io/csinodes", "resource.platform.io/resourceslices",
			"certificates.platform.io/certificatesigningrequests",
		},
	}
}

// isNode tells whether a user is a node, known or not.
func isNode(u *authn.User) bool {
	_, ok := Identity(u)
	return ok
}

type restriction struct {
	objects                          policy.Objects
	mirrorAnnotation, leaseNamespace string
	labels                           *nodeLabelPolicy
	signers                          map[string]bool // of the certificates of nodes
}

// nodeAttributes is a change that a node asks for.
type nodeAttributes struct {
	*admission.Attributes
	node string
}

// Admit implements admission.Plugin.
func (r *restriction) Admit(change *admission.Attributes) error {
	name, ok := Identity(change.User)
	if !ok {
		return nil
	}
	a := nodeAttributes{change, name}
	if name == "" {
		return a.forbiddenf("could not determine node from user %q", change.User.Name)
	}
	switch a.Kind.Resource {
	case "pods":
		return r.admitPod(a)
	case "nodes":
		return r.admitNode(a)
	case "persistentvolumeclaims":
		return r.admitPVCStatus(a)
	case "serviceaccounts":
		return r.admitTokenRequest(a)
	case "leases":
		if a.Key.Namespace != r.leaseNamespace {
			return a.forbiddenf("can only access leases in the %q system namespace", r.leaseNamespace)
		}
		return a.requireNodeName("node lease")
	case "csinodes":
		return a.requireNodeName("CSINode")
	case "resourceslices":
		if a.Old == nil && nodeName(a.New) != name {
			return a.forbiddenf("can only create ResourceSlice with the same NodeName as the requesting node")
		}
	case "certificatesigningrequests":
		return r.admitCSR(a)
	}
	return nil
}

func (a nodeAttributes) forbiddenf(format string, args ...any) error {
	return a.Forbidden(fmt.Sprintf(format, args...))
}

// requireNodeName refuses an object that does not bear the name of the node.
func (a nodeAttributes) requireNodeName(what string) error {
	if a.Key.Name != a.node {
		return a.forbiddenf("can only access %s with the same name as the requesting node", what)
	}
	return nil
}

// operation is what the change does, as webhooks call it.
func (a nodeAttributes) operation() string {
	switch {
	case a.Old == nil:
		return "CREATE"
	case a.New == nil:
		return "DELETE"
	}
	return "UPDATE"
}

func nodeName(t tree.Tree) string { return t.Object("spec").String("nodeName") }

// admitPVCStatus lets a node write of a claim only how far its volume has grown.
func (r *restriction) admitPVCStatus(a nodeAttributes) error {
	if a.Subresource != "status" {
		return a.forbiddenf("may only update PVC status")
	}
	if a.operation() != "UPDATE" {
		return a.forbiddenf("unexpected operation %q", a.operation())
	}
	old, now := tree.Clone(a.Old).(tree.Tree), tree.Clone(a.New).(tree.Tree)
	for _, t := range []tree.Tree{old, now} {
		delete(t.Object("metadata"), "managedFields")
		delete(t.Object("metadata"), "resourceVersion")
		for _, field := range []string{"capacity", "conditions", "allocatedResources", "allocatedResourceStatuses"} {
			delete(t.Object("status"), field)
		}
	}
	if !tree.SemanticEqual(old, now) {
		return a.forbiddenf("node %q is not allowed to update fields other than status.capacity, status.conditions and status.allocatedResources", a.node)
	}
	return nil
}

// admitTokenRequest lets a node request only tokens that are bound to one of its Pods.
func (r *restriction) admitTokenRequest(a nodeAttributes) error {
	ref := a.New.Object("spec", "boundObjectRef")
	if ref.String("kind") != "Pod" || ref.String("apiVersion") != "v1" {
		return a.forbiddenf("node requested token not bound to a pod")
	}
	name, uid := ref.String("name"), ref.String("uid")
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
