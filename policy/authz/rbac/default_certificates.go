package rbac

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/schema"
)

// certificateRoles are for requesting and approving certificates. They have no bindings, which are
// up to the operator. Approval is a verb on a signer, a resource without objects, so that it can be
// granted per signer.
func certificateRoles() []defaultRole {
	const prefix = "system:" + certificatesGroup + ":"
	approver := func(name, signer string) defaultRole {
		return defaultRole{name: prefix + name + "-approver", rules: []rule{newRule("approve", certificatesGroup, "signers", signer)}}
	}
	return []defaultRole{
		{name: prefix + "certificatesigningrequests:nodeclient", rules: []rule{
			newRule("create", certificatesGroup, "certificatesigningrequests/nodeclient"),
		}},
		{name: prefix + "certificatesigningrequests:selfnodeclient", rules: []rule{
			newRule("create", certificatesGroup, "certificatesigningrequests/selfnodeclient"),
		}},
		approver("apiserver-client", clientSigner),
		approver("apiserver-client-node", nodeSigner),
		approver("node-serving", servingSigner),
		approver("legacy-unknown", legacySigner),
	}
}

// trustBundleRoles let all service accounts read the trust bundles that Pods mount, if these are
// served.
func trustBundleRoles(kinds *catalog.Catalog) []defaultRole {
	const resource = "clustertrustbundles"
	if !isServed(kinds, certificatesGroup, resource) {
		return nil
	}
	return []defaultRole{{
		name: "system:cluster-trust-bundle-discovery", subjects: bindTo("group system:serviceaccounts"),
		rules: []rule{newRule(readVerbs, certificatesGroup, resource)},
	}}
}

// isServed reports whether any version of a resource is served. The group is in platform form.
func isServed(kinds *catalog.Catalog, group, resource string) bool {
	return slices.ContainsFunc(kinds.Kinds(), func(k *schema.Kind) bool {
		return k.Resource == resource && k.Group == kinds.Naming().Translate(group)
	})
}

// The signers of every cluster.
const (
	clientSigner  = "platform.io/apiserver-client"
	nodeSigner    = "platform.io/apiserver-client-node"
	servingSigner = "platform.io/node-serving"
	legacySigner  = "platform.io/legacy-unknown"
)
