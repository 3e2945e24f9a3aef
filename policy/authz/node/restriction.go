package node

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// Restriction returns the NodeRestriction admission plugin. It limits a node's writes to its own
// Node, Lease and CSINode, to mirror Pods, and to the status, tokens and certificates of its Pods.
// A node may request tokens and certificates only for audiences and signers used by the Pod's
// volumes, or allowed by authorizer.
func Restriction(naming *meta.Naming, objects policy.Objects, authorizer authz.Authorizer, volumeHealth bool) []admission.Registration {
	r := &restriction{
		objects:          objects,
		volumeHealth:     volumeHealth,
		authorizer:       authorizer,
		mirrorAnnotation: naming.Translate("platform.io/config.mirror"),
		leaseNamespace:   naming.NodeLeaseNamespace(),
		labels:           newNodeLabelPolicy(naming),
		signers:          map[string]bool{naming.Translate("platform.io/node-serving"): true, naming.Translate("platform.io/apiserver-client-node"): true},
	}
	const name, operations = "NodeRestriction", request.OnCreate | request.OnUpdate | request.OnDelete
	return []admission.Registration{
		{
			Name: name, Users: isNode,
			Resources: []string{
				"/pods", "/pods/status", "/pods/eviction", "/pods/binding", "/pods/ephemeralcontainers", "/pods/resize",
				"/nodes", "/nodes/status", "/persistentvolumeclaims", "/persistentvolumeclaims/status", "/serviceaccounts/token",
				"coordination.platform.io/leases", "storage.platform.io/csinodes", "storage.platform.io/csinodes/status", "resource.platform.io/resourceslices",
				"certificates.platform.io/certificatesigningrequests",
			},
			Plugin: request.Plugin{Operations: operations, Mutator: r},
		},
		{
			Name: name, Users: isNode, Resources: []string{"/serviceaccounts/token"},
			Plugin: request.Plugin{Stage: request.MayBlock, Operations: operations, Mutator: audienceRestriction{
				objects: objects, authorizer: authorizer, driverName: "csidriver." + naming.Translate("storage.platform.io"),
			}},
		},
		{
			Name: name, Users: isNode, Resources: []string{"certificates.platform.io/podcertificaterequests", "certificates.platform.io/podcertificaterequests/status"},
			Plugin: request.Plugin{Stage: request.MayBlock, Operations: operations, Mutator: r},
		},
	}
}

func isNode(u *authn.User) bool {
	_, ok := Identity(u)
	return ok
}

// A restriction checks the content of writes by nodes. The Authorizer cannot check content, because
// it sees only verbs and names.
type restriction struct {
	request.HandlesAll
	objects                          policy.Objects
	authorizer                       authz.Authorizer
	mirrorAnnotation, leaseNamespace string
	labels                           *nodeLabelPolicy
	signers                          map[string]bool // signers of node certificates
	volumeHealth                     bool            // the feature gate CSIVolumeHealth
}

// nodeAttributes is a change made by a node. Admit ensures that node is not empty.
type nodeAttributes struct {
	*request.Attributes
	node string
}

// Admit rejects a change by a node without a name, because an empty name would match an empty
// spec.nodeName.
func (r *restriction) Admit(change *request.Attributes) error {
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
		if err := a.requireNodeName("CSINode"); err != nil || a.Subresource == "" || r.volumeHealth {
			return err
		}
		return a.forbiddenf("CSIVolumeHealth feature gate is disabled")
	case "resourceslices":
		return admitResourceSlice(a)
	case "certificatesigningrequests":
		return r.admitCSR(a)
	case "podcertificaterequests":
		return r.admitPodCertificateRequest(a)
	}
	return nil
}

func (a nodeAttributes) forbiddenf(format string, args ...any) error {
	return a.Forbidden(fmt.Sprintf(format, args...))
}

func (a nodeAttributes) requireNodeName(what string) error {
	if a.Key.Name != a.node {
		return a.forbiddenf("can only access %s with the same name as the requesting node", what)
	}
	return nil
}

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

// admitResourceSlice ignores updates. The Authorizer's check is enough for them, because
// spec.nodeName is immutable.
func admitResourceSlice(a nodeAttributes) error {
	switch {
	case a.Old == nil && nodeName(a.New) != a.node:
		return a.forbiddenf("can only create ResourceSlice with the same NodeName as the requesting node")
	case a.New == nil && nodeName(a.Old) != a.node:
		return a.forbiddenf("can only delete ResourceSlice with the same NodeName as the requesting node")
	}
	return nil
}
