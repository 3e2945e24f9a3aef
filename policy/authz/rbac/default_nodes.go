package rbac

import "github.com/troupe-api/troupe/policy/certs"

// nodeRoles are for nodes and what runs on them. The node role has no subjects, because the node
// authorizer decides by a node's Pods.
func nodeRoles() []defaultRole {
	return []defaultRole{
		{name: "system:node", subjects: bindTo(), rules: nodeRules()},
		{name: "system:node-api-admin", subjects: bindTo("user " + certs.KubeletClientName), rules: []rule{
			newRule(readVerbs, coreGroup, "nodes"),
			newRule("proxy", coreGroup, "nodes"),
			newRule(wildcard, coreGroup, "nodes/log nodes/metrics nodes/proxy nodes/stats"),
			newRule(wildcard, coreGroup, "nodes/configz nodes/healthz nodes/pods"),
		}},
		{name: "system:node-bootstrapper", rules: []rule{
			newRule(readVerbs+" create", certificatesGroup, "certificatesigningrequests"),
		}},
		{name: "system:node-problem-detector", rules: []rule{
			newRule("get", coreGroup, "nodes"),
			newRule("patch", coreGroup, "nodes/status"),
			eventsRule(),
		}},
		{name: "system:node-proxier", subjects: bindTo("user system:platform-proxy"), rules: []rule{
			newRule("list watch", coreGroup, "endpoints services"),
			newRule(readVerbs, coreGroup, "nodes"),
			eventsRule(),
			newRule("list watch", networkingGroup, "servicecidrs"),
			newRule("list watch", discoveryGroup, "endpointslices"),
		}},
	}
}

// nodeRules allow everything a node could need, on any object. The node authorizer limits each node
// to its own objects; the role is for clusters without that authorizer.
func nodeRules() []rule {
	return []rule{
		newRule("create", authenticationGroup, "tokenreviews"),
		newRule("create", authorizationGroup, "localsubjectaccessreviews subjectaccessreviews"),
		newRule(readVerbs, coreGroup, "services"),
		newRule(readVerbs+" create", coreGroup, "nodes"),
		newRule(updateVerbs, coreGroup, "nodes/status"),
		newRule(updateVerbs, coreGroup, "nodes"),
		eventsRule(),
		newRule(readVerbs, coreGroup, "pods"),
		newRule("create delete", coreGroup, "pods"),
		newRule(updateVerbs, coreGroup, "pods/status"),
		newRule("create", coreGroup, "pods/eviction"),
		newRule(readVerbs, coreGroup, "configmaps secrets"),
		newRule("get", coreGroup, "persistentvolumeclaims persistentvolumes"),
		newRule("get", coreGroup, "endpoints"),
		newRule(readVerbs+" create", certificatesGroup, "certificatesigningrequests"),
		newRule("create delete get patch update", coordinationGroup, "leases"),
		newRule("get", storageGroup, "volumeattachments"),
		newRule("create", coreGroup, "serviceaccounts/token"),
		newRule("get patch update", coreGroup, "persistentvolumeclaims/status"),
		newRule(readVerbs, storageGroup, "csidrivers"),
		newRule("create delete get patch update", storageGroup, "csinodes"),
		newRule(readVerbs, "node.platform.io", "runtimeclasses"),
		newRule("get", resourceGroup, "resourceclaims"),
		newRule("deletecollection", resourceGroup, "resourceslices"),
		newRule("get", coreGroup, "serviceaccounts"),
	}
}
