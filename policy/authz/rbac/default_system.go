package rbac

import "strings"

func systemRoles(pages []string) []defaultRole {
	return []defaultRole{
		{name: "system:monitoring", subjects: bindTo("group system:monitoring"), rules: []rule{
			newPathRule("/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* " + strings.Join(pages, " ")),
			newRule("get", coreGroup, "nodes/metrics"),
		}},
		{name: "system:auth-delegator", rules: []rule{
			newRule("create", authenticationGroup, "tokenreviews"),
			newRule("create", authorizationGroup, "subjectaccessreviews"),
		}},
		{name: "system:heapster", rules: []rule{
			newRule(readVerbs, coreGroup, "events namespaces nodes pods"),
			newRule(readVerbs, "extensions", "deployments"),
		}},
		{name: "system:platform-aggregator", rules: []rule{newRule(readVerbs, coreGroup, "endpoints services")}},
		{name: "system:platform-dns", subjects: bindTo("account platform-system/platform-dns"), rules: []rule{
			newRule("list watch", coreGroup, "endpoints services"),
		}},
		{name: "system:platform-controller-manager", subjects: bindTo("user system:platform-controller-manager"), rules: controllerManagerRules()},
		{name: "system:platform-scheduler", subjects: bindTo("user system:platform-scheduler"), rules: schedulerRules()},
		{name: "system:volume-scheduler", subjects: bindTo("user system:platform-scheduler"), rules: []rule{
			newRule(readVerbs+" "+updateVerbs, coreGroup, "persistentvolumes"),
			newRule(readVerbs, storageGroup, "storageclasses"),
			newRule(readVerbs+" "+updateVerbs, coreGroup, "persistentvolumeclaims"),
		}},
		{name: "system:persistent-volume-provisioner", rules: []rule{
			newRule(readVerbs+" create delete", coreGroup, "persistentvolumes"),
			newRule(readVerbs+" update", coreGroup, "persistentvolumeclaims"),
			newRule(readVerbs, storageGroup, "storageclasses"),
			newRule("watch", coreGroup, "events"),
			eventsRule(),
		}},
	}
}

func controllerManagerRules() []rule {
	return []rule{
		eventsRule(),
		newRule("create", coordinationGroup, "leases"),
		newRule("get update", coordinationGroup, "leases", "platform-controller-manager"),
		newRule("create", coreGroup, "secrets serviceaccounts"),
		newRule("delete", coreGroup, "secrets"),
		newRule("get", coreGroup, "configmaps namespaces secrets serviceaccounts"),
		newRule("update", coreGroup, "secrets serviceaccounts"),
		newRule("create", authenticationGroup, "tokenreviews"),
		newRule("create", authorizationGroup, "subjectaccessreviews"),
		newRule("list watch", wildcard, wildcard),
		newRule("create", coreGroup, "serviceaccounts/token"),
	}
}

func schedulerRules() []rule {
	return []rule{
		eventsRule(),
		newRule("create", coordinationGroup, "leases"),
		newRule(readVerbs+" update", coordinationGroup, "leases", "platform-scheduler"),
		newRule(readVerbs+" "+writeVerbs, coordinationGroup, "leasecandidates"),
		newRule(readVerbs, coreGroup, "nodes"),
		newRule(readVerbs+" delete", coreGroup, "pods"),
		newRule("create", coreGroup, "bindings pods/binding"),
		newRule(updateVerbs, coreGroup, "pods/status"),
		newRule(readVerbs, coreGroup, "replicationcontrollers services"),
		newRule(readVerbs, workloadGroups, "replicasets"),
		newRule(readVerbs, "apps", "statefulsets"),
		newRule(readVerbs, "policy", "poddisruptionbudgets"),
		newRule(readVerbs, coreGroup, "persistentvolumeclaims persistentvolumes"),
		newRule("create", authenticationGroup, "tokenreviews"),
		newRule("create", authorizationGroup, "subjectaccessreviews"),
		newRule(readVerbs, storageGroup, "csinodes"),
		newRule(readVerbs, storageGroup, "volumeattachments"),
		newRule(readVerbs, coreGroup, "namespaces"),
		newRule(readVerbs, storageGroup, "csidrivers"),
		newRule(readVerbs, storageGroup, "csistoragecapacities"),
		newRule(readVerbs, resourceGroup, "deviceclasses"),
		newRule(readVerbs+" "+updateVerbs, resourceGroup, "resourceclaims"),
		newRule(readVerbs+" "+updateVerbs, resourceGroup, "resourceclaims/status"),
		newRule("update", coreGroup, "pods/finalizers"),
		newRule(readVerbs, resourceGroup, "resourceslices"),
	}
}
