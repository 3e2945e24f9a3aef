package node

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
)

// Restriction keeps nodes to what is theirs in what they write: their own Node, Lease and
// CSINode, mirror Pods and the status of the Pods that are bound to them, and tokens for these. It
// runs only where it is switched on; without it, the Authorizer alone lets a node write too much.
func Restriction(naming *meta.Naming, objects policy.Objects) admission.Registration {
	r := &restriction{
		objects: objects,
		mirror:  naming.Name("platform.io/config.mirror"),
		leases:  naming.NodeLeaseNamespace(),
		labels:  newLabelRules(naming),
		signers: map[string]bool{naming.Name("platform.io/node-serving"): true, naming.Name("platform.io/apiserver-client-node"): true},
	}
	return admission.Registration{
		Name: "NodeRestriction", Off: true, Plugin: r,
		Resources: []string{
			"/pods", "/pods/status", "/pods/eviction", "/pods/binding", "/pods/ephemeralcontainers", "/pods/resize",
			"/nodes", "/nodes/status", "/persistentvolumeclaims", "/persistentvolumeclaims/status", "/serviceaccounts/token",
			"coordination.platform.io/leases", "storage.platform.io/csinodes", "resource.platform.io/resourceslices",
			"certificates.platform.io/certificatesigningrequests",
		},
	}
}

type restriction struct {
	objects        policy.Objects
	mirror, leases string
	labels         *labelRules
	signers        map[string]bool // of the certificates of nodes
}

// An attempt is one of a node.
type attempt struct {
	*admission.Attempt
	node string
}

// Admit implements admission.Plugin.
func (r *restriction) Admit(change *admission.Attempt) error {
	name, ok := Name(change.User)
	if !ok {
		return nil
	}
	a := attempt{change, name}
	if name == "" {
		return a.refuse("could not determine node from user %q", change.User.Name)
	}
	switch a.Kind.Resource {
	case "pods":
		return r.pod(a)
	case "nodes":
		return r.ownNode(a)
	case "persistentvolumeclaims":
		return r.claim(a)
	case "serviceaccounts":
		return r.token(a)
	case "leases":
		if a.Key.Namespace != r.leases {
			return a.refuse("can only access leases in the %q system namespace", r.leases)
		}
		return a.own("node lease")
	case "csinodes":
		return a.own("CSINode")
	case "resourceslices":
		if a.Old == nil && nodeName(a.New) != name {
			return a.refuse("can only create ResourceSlice with the same NodeName as the requesting node")
		}
	case "certificatesigningrequests":
		return r.certificate(a)
	}
	return nil
}

func (a attempt) refuse(format string, args ...any) error {
	return a.Forbidden(fmt.Sprintf(format, args...))
}

// own refuses an object that does not bear the name of the node.
func (a attempt) own(what string) error {
	if a.Key.Name != a.node {
		return a.refuse("can only access %s with the same name as the requesting node", what)
	}
	return nil
}

// verb is what the attempt does, as webhooks call it.
func (a attempt) verb() string {
	switch {
	case a.Old == nil:
		return "CREATE"
	case a.New == nil:
		return "DELETE"
	}
	return "UPDATE"
}

func nodeName(t schema.Tree) string { return rules.Text(rules.Sub(t, "spec"), "nodeName") }

// claim: of a claim a node may write how far its volume has grown.
func (r *restriction) claim(a attempt) error {
	if a.Subresource != "status" {
		return a.refuse("may only update PVC status")
	}
	if a.verb() != "UPDATE" {
		return a.refuse("unexpected operation %q", a.verb())
	}
	old, now := rules.Clone(a.Old).(schema.Tree), rules.Clone(a.New).(schema.Tree)
	for _, t := range []schema.Tree{old, now} {
		delete(rules.Sub(t, "metadata"), "managedFields")
		delete(rules.Sub(t, "metadata"), "resourceVersion")
		for _, field := range []string{"capacity", "conditions", "allocatedResources", "allocatedResourceStatuses"} {
			delete(rules.Sub(t, "status"), field)
		}
	}
	if !rules.Equal(old, now) {
		return a.refuse("node %q is not allowed to update fields other than status.capacity, status.conditions and status.allocatedResources", a.node)
	}
	return nil
}

// token: a token for an account is bound to a Pod of the node.
func (r *restriction) token(a attempt) error {
	ref := rules.Sub(a.New, "spec", "boundObjectRef")
	if rules.Text(ref, "kind") != "Pod" || rules.Text(ref, "apiVersion") != "v1" {
		return a.refuse("node requested token not bound to a pod")
	}
	name, uid := rules.Text(ref, "name"), rules.Text(ref, "uid")
	if uid == "" {
		return a.refuse("node requested token with a pod binding without a uid")
	}
	pod := r.objects.Get(meta.GroupResource{Resource: "pods"}, a.Key.Namespace, name)
	switch {
	case pod == nil:
		return meta.NewNotFound(meta.GroupResource{Resource: "pods"}, name)
	case string(pod.Head.UID) != uid:
		return a.refuse("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", uid)
	case nodeName(pod.Tree) != a.node:
		return a.refuse("node requested token bound to a pod scheduled on a different node")
	}
	return nil
}
