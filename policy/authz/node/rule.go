package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authz"
)

// table is what nodes may do, by resource. What it does not name they may not.
func (n *Authorizer) table(naming *meta.Naming) map[resource]rule {
	in := func(prefix string) string { return naming.Name(prefix + ".platform.io") }
	review, read := verbs("create"), verbs("get", "list", "watch")
	event := verbs("create", "update", "patch")
	return map[resource]rule{
		{in("authentication"), "tokenreviews"}:             review,
		{in("authorization"), "subjectaccessreviews"}:      review,
		{in("authorization"), "localsubjectaccessreviews"}: review,

		{"", "services"}:         read,
		{"", "endpoints"}:        verbs("get"),
		{"", "events"}:           event,
		{in("events"), "events"}: event,

		{"", "nodes"}:         n.nodes,
		{"", "nodes/status"}:  verbs("update", "patch"),
		{"", "pods"}:          n.pods,
		{"", "pods/status"}:   verbs("update", "patch"),
		{"", "pods/eviction"}: verbs("create"),

		{"", "secrets"}:                       n.related(ofSecret, "can only read resources of this type", "get", "list", "watch"),
		{"", "configmaps"}:                    n.related(ofConfigMap, "can only read resources of this type", "get", "list", "watch"),
		{"", "persistentvolumeclaims"}:        n.related(ofClaim, onlyGet, "get"),
		{"", "persistentvolumeclaims/status"}: n.related(ofClaim, "can only update or patch the status of this type", "update", "patch"),
		{"", "persistentvolumes"}:             n.related(ofVolume, onlyGet, "get"),
		{"", "serviceaccounts"}:               n.related(ofAccount, onlyGet, "get"),
		{"", "serviceaccounts/token"}:         n.related(ofAccount, "can only create tokens for individual service accounts", "create"),

		{in("storage"), "volumeattachments"}: n.related(ofAttachment, onlyGet, "get"),
		{in("storage"), "csidrivers"}:        read,
		{in("storage"), "csinodes"}:          csiNodes,
		{in("coordination"), "leases"}:       n.lease,
		{in("node"), "runtimeclasses"}:       read,

		{in("certificates"), "certificatesigningrequests"}: verbs("create", "get", "list", "watch"),
		{in("certificates"), "clustertrustbundles"}:        read,

		{in("resource"), "resourceclaims"}: n.related(ofResourceClaim, onlyGet, "get"),
		{in("resource"), "resourceslices"}: n.slices,
	}
}

const onlyGet = "can only get individual resources of this type"

// verbs allows some, on all objects.
func verbs(all ...string) rule {
	return func(_ string, a *authz.Attributes) (bool, string) { return slices.Contains(all, a.Verb), "" }
}

// related allows verbs on single objects that belong to the node. other is why not another verb.
func (n *Authorizer) related(sort sort, other string, all ...string) rule {
	return func(node string, a *authz.Attributes) (bool, string) {
		switch {
		case !slices.Contains(all, a.Verb):
			return false, other
		case a.Name == "":
			return false, "No Object name found"
		case !n.graph.belongs(vertex{sort, a.Namespace, a.Name}, node):
			return false, fmt.Sprintf("no relationship found between node '%s' and this object", node)
		}
		return true, ""
	}
}

// nodes: its own, of which the name is known even before there is one.
func (n *Authorizer) nodes(node string, a *authz.Attributes) (bool, string) {
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

// pods: those that are bound to it. Admission sees to what it creates and deletes.
func (n *Authorizer) pods(node string, a *authz.Attributes) (bool, string) {
	own := func() bool { return n.graph.belongs(vertex{ofPod, a.Namespace, a.Name}, node) }
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

// slices: those of its own devices. Admission sees to what it creates.
func (n *Authorizer) slices(node string, a *authz.Attributes) (bool, string) {
	switch a.Verb {
	case "create":
		return true, ""
	case "get", "update", "patch", "delete":
		if a.Name != "" && n.graph.belongs(vertex{sort: ofSlice, name: a.Name}, node) {
			return true, ""
		}
		return false, fmt.Sprintf("no relationship found between node '%s' and this object", node)
	case "list", "watch", "deletecollection":
		if value, ok := a.Selectors.Field("spec.nodeName"); ok && value == node {
			return true, ""
		}
		return false, "can only list/watch/deletecollection resourceslices with nodeName field selector"
	}
	return false, ""
}

var ownVerbs = []string{"get", "create", "update", "patch", "delete"}

// lease: its own, in the namespace of the leases of nodes. The name of a new one is not known.
func (n *Authorizer) lease(node string, a *authz.Attributes) (bool, string) {
	switch {
	case !slices.Contains(ownVerbs, a.Verb):
		return false, "can only " + listed(ownVerbs) + " a node lease"
	case a.Namespace != n.leases:
		return false, fmt.Sprintf("can only access leases in the %q system namespace", n.leases)
	case a.Verb != "create" && a.Name != node:
		return false, "can only access node lease with the same name as the requesting node"
	}
	return true, ""
}

// csiNodes: its own.
func csiNodes(node string, a *authz.Attributes) (bool, string) {
	switch {
	case !slices.Contains(ownVerbs, a.Verb):
		return false, "can only " + listed(ownVerbs) + " a CSINode"
	case a.Verb != "create" && a.Name != node:
		return false, "can only access CSINode with the same name as the requesting node"
	}
	return true, ""
}

// listed is as in "a, b, or c".
func listed(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + ", or " + words[last]
}
