package rbac

// systemRoles are for the components of a cluster.
func systemRoles() []standard {
	return []standard{
		{name: "system:monitoring", bound: to("group system:monitoring"), rules: []rule{
			reach("/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*"),
		}},
		{name: "system:auth-delegator", rules: []rule{
			may("create", tokenGroup, "tokenreviews"),
			may("create", reviewGroup, "subjectaccessreviews"),
		}},
		{name: "system:heapster", rules: []rule{
			may(reads, core, "events namespaces nodes pods"),
			may(reads, "extensions", "deployments"),
		}},
		{name: "system:platform-aggregator", rules: []rule{may(reads, core, "endpoints services")}},
		{name: "system:platform-dns", bound: to("account platform-system/platform-dns"), rules: []rule{
			may("list watch", core, "endpoints services"),
		}},
		{name: "system:platform-controller-manager", bound: to("user system:platform-controller-manager"), rules: controlling()},
		{name: "system:platform-scheduler", bound: to("user system:platform-scheduler"), rules: scheduling()},
		{name: "system:volume-scheduler", bound: to("user system:platform-scheduler"), rules: []rule{
			may(reads+" "+changes, core, "persistentvolumes"),
			may(reads, storage, "storageclasses"),
			may(reads+" "+changes, core, "persistentvolumeclaims"),
		}},
		{name: "system:persistent-volume-provisioner", rules: []rule{
			may(reads+" create delete", core, "persistentvolumes"),
			may(reads+" update", core, "persistentvolumeclaims"),
			may(reads, storage, "storageclasses"),
			may("watch", core, "events"),
			tell(),
		}},
	}
}

// controlling is what the manager of controllers needs to start them.
func controlling() []rule {
	return []rule{
		tell(),
		may("create", leasing, "leases"),
		may("get update", leasing, "leases", "platform-controller-manager"),
		may("create", core, "secrets serviceaccounts"),
		may("delete", core, "secrets"),
		may("get", core, "configmaps namespaces secrets serviceaccounts"),
		may("update", core, "secrets serviceaccounts"),
		may("create", tokenGroup, "tokenreviews"),
		may("create", reviewGroup, "subjectaccessreviews"),
		may("list watch", every, every),
		may("create", core, "serviceaccounts/token"),
	}
}

// scheduling is what the scheduler needs.
func scheduling() []rule {
	return []rule{
		tell(),
		may("create", leasing, "leases"),
		may("get update", leasing, "leases", "platform-scheduler"),
		may(reads, core, "nodes"),
		may(reads+" delete", core, "pods"),
		may("create", core, "bindings pods/binding"),
		may(changes, core, "pods/status"),
		may(reads, core, "replicationcontrollers services"),
		may(reads, olderGroups, "replicasets"),
		may(reads, "apps", "statefulsets"),
		may(reads, "policy", "poddisruptionbudgets"),
		may(reads, core, "persistentvolumeclaims persistentvolumes"),
		may("create", tokenGroup, "tokenreviews"),
		may("create", reviewGroup, "subjectaccessreviews"),
		may(reads, storage, "csinodes"),
		may(reads, storage, "volumeattachments"),
		may(reads, core, "namespaces"),
		may(reads, storage, "csidrivers"),
		may(reads, storage, "csistoragecapacities"),
		may(reads, devices, "deviceclasses"),
		may(reads+" "+changes, devices, "resourceclaims"),
		may(reads+" "+changes, devices, "resourceclaims/status"),
		may(reads+" "+changes, core, "pods/finalizers"),
		may(reads, devices, "resourceslices"),
	}
}
