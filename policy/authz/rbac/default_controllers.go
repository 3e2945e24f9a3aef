package rbac

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog"
)

// controllerRoles are for controllers, each of which runs as the service account of its name. They
// exceed the needs of the built-in controllers, because kube-controller-manager may run alongside
// and expects these names and rights.
func controllerRoles() []defaultRole {
	all := slices.Concat(workloadControllers(), storageControllers(), networkControllers(), clusterControllers())
	for i := range all {
		all[i] = ofController(all[i])
	}
	return all
}

func ofController(s defaultRole) defaultRole {
	s.subjects = bindTo("account platform-system/" + s.name)
	s.name = "system:controller:" + s.name
	return s
}

// migratorRoles are for the storage migration controller, if its API is served. It never means to
// create: an apply to a deleted object counts as a create, and fails.
func migratorRoles(kinds *catalog.Catalog) []defaultRole {
	if !isServed(kinds, storageMigrationGroup, "storageversionmigrations") {
		return nil
	}
	return []defaultRole{ofController(defaultRole{name: "storage-version-migrator-controller", rules: []rule{
		newRule("create list patch", wildcard, wildcard),
		newRule("update", storageMigrationGroup, "storageversionmigrations/status"),
	}})}
}

func ownedPodsRule() rule { return newRule("create delete list patch watch", coreGroup, "pods") }

// Controllers that create objects with blockOwnerDeletion need update on the "finalizers"
// subresource of the owner, which admission requires.
func workloadControllers() []defaultRole {
	const all = readVerbs + " create delete patch update"
	return []defaultRole{
		{name: "cronjob-controller", rules: []rule{
			newRule(readVerbs+" update", "batch", "cronjobs"),
			newRule(all, "batch", "jobs"),
			newRule("update", "batch", "cronjobs/status"),
			newRule("update", "batch", "cronjobs/finalizers"),
			newRule("delete list watch", coreGroup, "pods"),
			eventsRule(),
		}},
		{name: "daemon-set-controller", rules: []rule{
			newRule(readVerbs, workloadGroups, "daemonsets"),
			newRule("update", workloadGroups, "daemonsets/status"),
			newRule("update", workloadGroups, "daemonsets/finalizers"),
			newRule("list watch", coreGroup, "nodes"),
			ownedPodsRule(),
			newRule("create", coreGroup, "pods/binding"),
			newRule(all, "apps", "controllerrevisions"),
			eventsRule(),
		}},
		{name: "deployment-controller", rules: []rule{
			newRule(readVerbs+" update", workloadGroups, "deployments"),
			newRule("update", workloadGroups, "deployments/status"),
			newRule("update", workloadGroups, "deployments/finalizers"),
			newRule(all, workloadGroups, "replicasets"),
			newRule(readVerbs+" update", coreGroup, "pods"),
			eventsRule(),
		}},
		{name: "disruption-controller", rules: []rule{
			newRule(readVerbs, workloadGroups, "deployments"),
			newRule(readVerbs, workloadGroups, "replicasets"),
			newRule(readVerbs, coreGroup, "replicationcontrollers"),
			newRule(readVerbs, "policy", "poddisruptionbudgets"),
			newRule(readVerbs, "apps", "statefulsets"),
			newRule("update", "policy", "poddisruptionbudgets/status"),
			newRule(updateVerbs, coreGroup, "pods/status"),
			newRule("get", wildcard, "*/scale"),
			eventsRule(),
		}},
		{name: "horizontal-pod-autoscaler", rules: []rule{
			newRule(readVerbs, "autoscaling", "horizontalpodautoscalers"),
			newRule("update", "autoscaling", "horizontalpodautoscalers/status"),
			newRule("get update", wildcard, "*/scale"),
			newRule("list watch", coreGroup, "pods"),
			newRule("list watch", "metrics.platform.io", "pods"),
			newRule(readVerbs, "custom.metrics.platform.io", wildcard),
			newRule(readVerbs, "external.metrics.platform.io", wildcard),
			eventsRule(),
		}},
		{name: "job-controller", rules: []rule{
			newRule(readVerbs+" "+updateVerbs, "batch", "jobs"),
			newRule("update", "batch", "jobs/status"),
			newRule("update", "batch", "jobs/finalizers"),
			ownedPodsRule(),
			eventsRule(),
		}},
		{name: "replicaset-controller", rules: []rule{
			newRule(readVerbs+" update", workloadGroups, "replicasets"),
			newRule("update", workloadGroups, "replicasets/status"),
			newRule("update", workloadGroups, "replicasets/finalizers"),
			ownedPodsRule(),
			eventsRule(),
		}},
		{name: "replication-controller", rules: []rule{
			newRule(readVerbs+" update", coreGroup, "replicationcontrollers"),
			newRule("update", coreGroup, "replicationcontrollers/status"),
			newRule("update", coreGroup, "replicationcontrollers/finalizers"),
			ownedPodsRule(),
			eventsRule(),
		}},
		{name: "resource-claim-controller", rules: []rule{
			newRule(readVerbs, coreGroup, "pods"),
			newRule("update", coreGroup, "pods/finalizers"),
			newRule(readVerbs+" create delete", resourceGroup, "resourceclaims"),
			newRule(updateVerbs, resourceGroup, "resourceclaims resourceclaims/status"),
			newRule(updateVerbs, coreGroup, "pods/status"),
			eventsRule(),
		}},
		{name: "statefulset-controller", rules: []rule{
			newRule("list watch", coreGroup, "pods"),
			newRule(readVerbs, "apps", "statefulsets"),
			newRule("update", "apps", "statefulsets/status"),
			newRule("update", "apps", "statefulsets/finalizers"),
			newRule("create delete get patch update", coreGroup, "pods"),
			newRule(all, "apps", "controllerrevisions"),
			newRule(readVerbs+" create", coreGroup, "persistentvolumeclaims"),
			newRule("delete update", coreGroup, "persistentvolumeclaims"),
			newRule("update", coreGroup, "pods/finalizers"),
			eventsRule(),
		}},
		{name: "ttl-after-finished-controller", rules: []rule{
			newRule(readVerbs+" delete", "batch", "jobs"),
			eventsRule(),
		}},
	}
}

// storageControllers handle claims, volumes and attachments. Some update whole objects, because the
// finalizers that protect volumes in use are metadata.
func storageControllers() []defaultRole {
	return []defaultRole{
		{name: "attachdetach-controller", rules: []rule{
			newRule("list watch", coreGroup, "persistentvolumeclaims persistentvolumes"),
			newRule(readVerbs, coreGroup, "nodes"),
			newRule(updateVerbs, coreGroup, "nodes/status"),
			newRule("list watch", coreGroup, "pods"),
			eventsRule(),
			newRule(readVerbs+" create delete", storageGroup, "volumeattachments"),
			newRule(readVerbs, storageGroup, "csidrivers"),
			newRule(readVerbs, storageGroup, "csinodes"),
		}},
		{name: "ephemeral-volume-controller", rules: []rule{
			newRule(readVerbs, coreGroup, "pods"),
			newRule("update", coreGroup, "pods/finalizers"),
			newRule(readVerbs+" create", coreGroup, "persistentvolumeclaims"),
			eventsRule(),
		}},
		{name: "expand-controller", rules: []rule{
			newRule(readVerbs+" "+updateVerbs, coreGroup, "persistentvolumes"),
			newRule(updateVerbs, coreGroup, "persistentvolumeclaims/status"),
			newRule(readVerbs, coreGroup, "persistentvolumeclaims"),
			eventsRule(),
			newRule("get", coreGroup, "services"),
		}},
		{name: "persistent-volume-binder", rules: []rule{
			newRule(readVerbs+" create delete update", coreGroup, "persistentvolumes"),
			newRule("update", coreGroup, "persistentvolumes/status"),
			newRule(readVerbs+" update", coreGroup, "persistentvolumeclaims"),
			newRule("update", coreGroup, "persistentvolumeclaims/status"),
			newRule(readVerbs+" create delete", coreGroup, "pods"),
			newRule(readVerbs, storageGroup, "storageclasses"),
			newRule("list watch", coreGroup, "nodes"),
			eventsRule(),
			newRule("watch", coreGroup, "events"),
			newRule("get", coreGroup, "services"),
		}},
		{name: "pv-protection-controller", rules: []rule{
			newRule(readVerbs+" update", coreGroup, "persistentvolumes"),
			eventsRule(),
		}},
		{name: "pvc-protection-controller", rules: []rule{
			newRule(readVerbs+" update", coreGroup, "persistentvolumeclaims"),
			newRule(readVerbs, coreGroup, "pods"),
			eventsRule(),
		}},
		{name: "selinux-warning-controller", rules: []rule{
			eventsRule(),
			newRule(readVerbs, coreGroup, "persistentvolumes"),
			newRule(readVerbs, coreGroup, "persistentvolumeclaims"),
			newRule(readVerbs, coreGroup, "pods"),
			newRule(readVerbs, storageGroup, "csidrivers"),
		}},
		{name: "volumeattributesclass-protection-controller", rules: []rule{
			newRule(readVerbs, coreGroup, "persistentvolumeclaims"),
			newRule(readVerbs, coreGroup, "persistentvolumes"),
			newRule(readVerbs+" update", storageGroup, "volumeattributesclasses"),
			eventsRule(),
		}},
	}
}

// networkControllers write endpoints, routes and addresses.
func networkControllers() []defaultRole {
	const sliced = readVerbs + " create delete update"
	return []defaultRole{
		{name: "endpoint-controller", rules: []rule{
			newRule(readVerbs, coreGroup, "pods services"),
			newRule(sliced, coreGroup, "endpoints"),
			newRule("create", coreGroup, "endpoints/restricted"),
			eventsRule(),
		}},
		{name: "endpointslice-controller", rules: []rule{
			newRule(readVerbs, coreGroup, "nodes pods services"),
			newRule("update", coreGroup, "services/finalizers"),
			newRule(sliced, discoveryGroup, "endpointslices"),
			eventsRule(),
		}},
		{name: "endpointslicemirroring-controller", rules: []rule{
			newRule(readVerbs, coreGroup, "endpoints services"),
			newRule("update", coreGroup, "services/finalizers"),
			newRule("update", coreGroup, "endpoints/finalizers"),
			newRule(sliced, discoveryGroup, "endpointslices"),
			eventsRule(),
		}},
		{name: "route-controller", rules: []rule{
			newRule("list watch", coreGroup, "nodes"),
			newRule("patch", coreGroup, "nodes/status"),
			eventsRule(),
		}},
		{name: "service-cidrs-controller", rules: []rule{
			newRule(readVerbs+" "+updateVerbs, networkingGroup, "servicecidrs"),
			newRule(updateVerbs, networkingGroup, "servicecidrs/finalizers"),
			newRule(updateVerbs, networkingGroup, "servicecidrs/status"),
			newRule(readVerbs, networkingGroup, "ipaddresses"),
			eventsRule(),
		}},
		{name: "service-controller", rules: []rule{
			newRule(readVerbs, coreGroup, "services"),
			newRule(updateVerbs, coreGroup, "services/status"),
			newRule("list watch", coreGroup, "nodes"),
			eventsRule(),
		}},
	}
}

// clusterControllers serve the cluster as a whole. Garbage collector and namespace controller
// delete objects of any kind, including future ones, so their rules cover everything. The
// aggregation controller needs escalate, as it writes rules that it does not hold.
func clusterControllers() []defaultRole {
	return []defaultRole{
		{name: "certificate-controller", rules: []rule{
			newRule(readVerbs+" delete", certificatesGroup, "certificatesigningrequests"),
			newRule("update", certificatesGroup, "certificatesigningrequests/approval certificatesigningrequests/status"),
			newRule("approve", certificatesGroup, "signers", nodeSigner),
			newRule("sign", certificatesGroup, "signers", clientSigner, nodeSigner, servingSigner, legacySigner),
			newRule("create", authorizationGroup, "subjectaccessreviews"),
			eventsRule(),
		}},
		{name: "clusterrole-aggregation-controller", rules: []rule{
			newRule(readVerbs+" escalate patch update", group, "clusterroles"),
		}},
		{name: "generic-garbage-collector", rules: []rule{
			newRule(readVerbs+" delete patch update", wildcard, wildcard),
			eventsRule(),
		}},
		{name: "legacy-service-account-token-cleaner", rules: []rule{
			newRule("get", coreGroup, "configmaps", "platform-apiserver-legacy-service-account-token-tracking"),
			newRule("delete patch", coreGroup, "secrets"),
		}},
		{name: "namespace-controller", rules: []rule{
			newRule(readVerbs+" delete", coreGroup, "namespaces"),
			newRule("update", coreGroup, "namespaces/finalize namespaces/status"),
			newRule(readVerbs+" delete deletecollection", wildcard, wildcard),
		}},
		{name: "node-controller", rules: []rule{
			newRule(readVerbs+" delete patch update", coreGroup, "nodes"),
			newRule(updateVerbs, coreGroup, "nodes/status"),
			newRule(updateVerbs, coreGroup, "pods/status"),
			newRule(readVerbs+" delete", coreGroup, "pods"),
			eventsRule(),
		}},
		{name: "pod-garbage-collector", rules: []rule{
			newRule("delete list watch", coreGroup, "pods"),
			newRule(readVerbs, coreGroup, "nodes"),
			newRule("patch", coreGroup, "pods/status"),
		}},
		{name: "resourcequota-controller", rules: []rule{
			newRule("list watch", wildcard, wildcard),
			newRule("update", coreGroup, "resourcequotas/status"),
			eventsRule(),
		}},
		{name: "root-ca-cert-publisher", rules: []rule{
			newRule("create update", coreGroup, "configmaps"),
			eventsRule(),
		}},
		{name: "service-account-controller", rules: []rule{
			newRule("create", coreGroup, "serviceaccounts"),
			eventsRule(),
		}},
		{name: "ttl-controller", rules: []rule{
			newRule("list patch update watch", coreGroup, "nodes"),
			eventsRule(),
		}},
		{name: "validatingadmissionpolicy-status-controller", rules: []rule{
			newRule(readVerbs, admissionRegistrationGroup, "validatingadmissionpolicies"),
			newRule("get patch update", admissionRegistrationGroup, "validatingadmissionpolicies/status"),
			eventsRule(),
		}},
	}
}
