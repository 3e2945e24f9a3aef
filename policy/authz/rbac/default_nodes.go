package rbac

// nodeRoles are for nodes and what runs on each of them. What a node may do is mostly decided
// by what runs there, so that nobody holds the role of nodes.
func nodeRoles() []standard {
	return []standard{
		{name: "system:node", bound: to(), rules: nodeRules()},
		{name: "system:node-api-admin", rules: []rule{
			may(reads, core, "nodes"),
			may("proxy", core, "nodes"),
			may(every, core, "nodes/log nodes/metrics nodes/proxy nodes/stats"),
			may(every, core, "nodes/configz nodes/healthz nodes/pods"),
		}},
		{name: "system:node-bootstrapper", rules: []rule{
			may(reads+" create", signing, "certificatesigningrequests"),
		}},
		{name: "system:node-problem-detector", rules: []rule{
			may("get", core, "nodes"),
			may("patch", core, "nodes/status"),
			tell(),
		}},
		{name: "system:node-proxier", bound: to("user system:platform-proxy"), rules: []rule{
			may("list watch", core, "endpoints services"),
			may(reads, core, "nodes"),
			tell(),
			may("list watch", networking, "servicecidrs"),
			may("list watch", slicing, "endpointslices"),
		}},
	}
}

func nodeRules() []rule {
	return []rule{
		may("create", tokenGroup, "tokenreviews"),
		may("create", reviewGroup, "localsubjectaccessreviews subjectaccessreviews"),
		may(reads, core, "services"),
		may(reads+" create", core, "nodes"),
		may(changes, core, "nodes/status"),
		may(changes, core, "nodes"),
		may("create patch update", core, "events"),
		may(reads, core, "pods"),
		may("create delete", core, "pods"),
		may(changes, core, "pods/status"),
		may("create", core, "pods/eviction"),
		may(reads, core, "configmaps secrets"),
		may("get", core, "persistentvolumeclaims persistentvolumes"),
		may("get", core, "endpoints"),
		may(reads+" create", signing, "certificatesigningrequests"),
		may("create delete get patch update", leasing, "leases"),
		may("get", storage, "volumeattachments"),
		may("create", core, "serviceaccounts/token"),
		may("get patch update", core, "persistentvolumeclaims/status"),
		may(reads, storage, "csidrivers"),
		may("create delete get patch update", storage, "csinodes"),
		may(reads, "node.platform.io", "runtimeclasses"),
		may("get", devices, "resourceclaims"),
		may("deletecollection", devices, "resourceslices"),
		may("get", core, "serviceaccounts"),
	}
}
