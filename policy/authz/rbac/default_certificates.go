package rbac

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/schema"
)

// certificateRoles are for those who ask for certificates, and those who approve them.
//
// They have no bindings: who may approve what is for the operator to decide. The right to approve is a verb on a
// signer, a resource of which no object exists, so that it can be given for one signer by its name.
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

// trustBundleRoles let all service accounts read the roots that Pods mount; none where those are not served.
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

// isServed tells whether any version of a resource is served. The group is in platform form.
func isServed(kinds *catalog.Catalog, group, resource string) bool {
	return slices.ContainsFunc(kinds.Kinds(), func(k *schema.Kind) bool {
		return k.Resource == resource && k.Group == kinds.Naming().Translate(group)
	})
}

// The signers that every cluster has.
const (
	clientSigner  = "platform.io/apiserver-client"
	nodeSigner    = "platform.io/apiserver-client-node"
	servingSigner = "platform.io/node-serving"
	legacySigner  = "platform.io/legacy-unknown"
)
