package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authz"
)

// newRules returns the rules for nodes by resource. Some rules allow too much, such as updating the
// status of any Node. The NodeRestriction admission plugin checks these requests.
func (n *Authorizer) newRules(naming *meta.Naming) map[resource]rule {
	in := func(prefix string) string { return naming.Translate(prefix + ".platform.io") }
	review, read := allowVerbs("create"), allowVerbs("get", "list", "watch")
	event := allowVerbs("create", "update", "patch")
	return map[resource]rule{
		{in("authentication"), "tokenreviews"}:             review,
		{in("authorization"), "subjectaccessreviews"}:      review,
		{in("authorization"), "localsubjectaccessreviews"}: review,

		{"", "services"}:         read,
		{"", "endpoints"}:        allowVerbs("get"),
		{"", "events"}:           event,
		{in("events"), "events"}: event,

		{"", "nodes"}:         n.authorizeNode,
		{"", "nodes/status"}:  allowVerbs("update", "patch"),
		{"", "pods"}:          n.authorizePod,
		{"", "pods/status"}:   allowVerbs("update", "patch"),
		{"", "pods/eviction"}: allowVerbs("create"),

		{"", "secrets"}:                       n.allowRelated(secretVertex, "can only read resources of this type", "get", "list", "watch"),
		{"", "configmaps"}:                    n.allowRelated(configMapVertex, "can only read resources of this type", "get", "list", "watch"),
		{"", "persistentvolumeclaims"}:        n.allowRelated(pvcVertex, onlyGetReason, "get"),
		{"", "persistentvolumeclaims/status"}: n.allowRelated(pvcVertex, "can only update or patch the status of this type", "update", "patch"),
		{"", "persistentvolumes"}:             n.allowRelated(pvVertex, onlyGetReason, "get"),
		{"", "serviceaccounts"}:               n.allowRelated(serviceAccountVertex, onlyGetReason, "get"),
		{"", "serviceaccounts/token"}:         n.allowRelated(serviceAccountVertex, "can only create tokens for individual service accounts", "create"),

		{in("storage"), "volumeattachments"}: n.allowRelated(volumeAttachmentVertex, onlyGetReason, "get"),
		{in("storage"), "csidrivers"}:        read,
		{in("storage"), "csinodes"}:          authorizeCSINode,
		{in("coordination"), "leases"}:       n.authorizeLease,
		{in("node"), "runtimeclasses"}:       read,

		{in("certificates"), "certificatesigningrequests"}: allowVerbs("create", "get", "list", "watch"),
		{in("certificates"), "clustertrustbundles"}:        read,
		{in("certificates"), "podcertificaterequests"}:     n.allowOwn(podCertificateVertex, []string{"get"}, []string{"list", "watch"}),

		{in("resource"), "resourceclaims"}: n.allowRelated(resourceClaimVertex, onlyGetReason, "get"),
		{in("resource"), "resourceslices"}: n.allowOwn(resourceSliceVertex, []string{"get", "update", "patch", "delete"}, []string{"list", "watch", "deletecollection"}),
	}
}

const onlyGetReason = "can only get individual resources of this type"

func allowVerbs(all ...string) rule {
	return func(_ string, a *authz.Attributes) (bool, string) { return slices.Contains(all, a.Verb), "" }
}

// allowRelated returns a rule for individual objects related to the node. all lists the allowed
// verbs, and other is the rejection reason for other verbs.
func (n *Authorizer) allowRelated(kind vertexKind, other string, all ...string) rule {
	return func(node string, a *authz.Attributes) (bool, string) {
		switch {
		case !slices.Contains(all, a.Verb):
			return false, other
		case a.Name == "":
			return false, "No Object name found"
		case !n.graph.isRelated(vertex{kind, a.Namespace, a.Name}, node):
			return false, fmt.Sprintf("no relationship found between node '%s' and this object", node)
		}
		return true, ""
	}
}

// authorizeNode lets a node read its own Node and write any Node. Restriction rejects writes to
// other Nodes in admission.
func (n *Authorizer) authorizeNode(node string, a *authz.Attributes) (bool, string) {
	switch a.Verb {
	case "create", "update", "patch":
		return true, ""
	case "get", "list", "watch":
		switch a.Name {
		case node:
			return true, ""
		case "":
			return false, fmt.Sprintf("node '%s' cannot read all nodes, only its own Node object", node)
		}
		return false, fmt.Sprintf("node '%s' cannot read '%s', only its own Node object", node, a.Name)
	}
	return false, ""
}

// authorizePod allows reading Pods that are bound to the node. A list or watch must have a field
// selector for these Pods, so that it returns no others. Creates and deletes are allowed here and
// checked in admission.
func (n *Authorizer) authorizePod(node string, a *authz.Attributes) (bool, string) {
	own := func() bool { return n.graph.isRelated(vertex{podVertex, a.Namespace, a.Name}, node) }
	switch a.Verb {
	case "create", "delete":
		return true, ""
	case "get":
		if a.Name != "" && own() {
			return true, ""
		}
		return false, fmt.Sprintf("no relationship found between node '%s' and this object", node)
	case "list", "watch":
		if value, ok := a.Selectors.Field("spec.nodeName"); ok && value == node {
			return true, ""
		}
		if a.Name != "" && own() {
			return true, ""
		}
		return false, "can only list/watch pods with spec.nodeName field selector"
	}
	return false, ""
}

// allowOwn returns a rule for objects with spec.nodeName. own lists the verbs for the node's
// objects, and all the verbs for lists that select only these objects. Admission checks creates.
func (n *Authorizer) allowOwn(kind vertexKind, own, all []string) rule {
	return func(node string, a *authz.Attributes) (bool, string) {
		switch {
		case a.Verb == "create":
			return true, ""
		case slices.Contains(own, a.Verb):
			if a.Name != "" && n.graph.isRelated(vertex{kind, a.Namespace, a.Name}, node) {
				return true, ""
			}
			return false, fmt.Sprintf("no relationship found between node '%s' and this object", node)
		case slices.Contains(all, a.Verb):
			if value, ok := a.Selectors.Field("spec.nodeName"); ok && value == node {
				return true, ""
			}
			return false, fmt.Sprintf("can only %s %s with nodeName field selector", strings.Join(all, "/"), a.Resource)
		}
		return false, fmt.Sprintf("nodes may not %s %s", a.Verb, a.Resource)
	}
}

var ownObjectVerbs = []string{"get", "create", "update", "patch", "delete"}

// authorizeLease allows access to the node's own lease in the node lease namespace. For a create,
// the request path does not contain the name, so admission checks it.
func (n *Authorizer) authorizeLease(node string, a *authz.Attributes) (bool, string) {
	switch {
	case !slices.Contains(ownObjectVerbs, a.Verb):
		return false, "can only " + joinWithOr(ownObjectVerbs) + " a node lease"
	case a.Namespace != n.leaseNamespace:
		return false, fmt.Sprintf("can only access leases in the %q system namespace", n.leaseNamespace)
	case a.Verb != "create" && a.Name != node:
		return false, "can only access node lease with the same name as the requesting node"
	}
	return true, ""
}

func authorizeCSINode(node string, a *authz.Attributes) (bool, string) {
	switch {
	case !slices.Contains(ownObjectVerbs, a.Verb):
		return false, "can only " + joinWithOr(ownObjectVerbs) + " a CSINode"
	case a.Verb != "create" && a.Name != node:
		return false, "can only access CSINode with the same name as the requesting node"
	}
	return true, ""
}

func joinWithOr(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + ", or " + words[last]
}
