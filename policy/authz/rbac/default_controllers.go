package rbac

import "slices"

// controllerRoles are for controllers, each of which is the service account of its name.
func controllerRoles() []standard {
	all := slices.Concat(workloadControllers(), storageControllers(), networkControllers(), clusterControllers())
	for i := range all {
		s := &all[i]
		s.bound = to("account platform-system/" + s.name)
		s.name = "system:controller:" + s.name
	}
	return all
}

// podsOfOwner is what controllers do with the Pods that they own.
func podsOfOwner() rule { return may("create delete list patch watch", core, "pods") }

func workloadControllers() []standard {
	const all = reads + " create delete patch update"
	return []standard{
		{name: "cronjob-controller", rules: []rule{
			may(reads+" update", "batch", "cronjobs"),
			may(all, "batch", "jobs"),
			may("update", "batch", "cronjobs/status"),
			may("update", "batch", "cronjobs/finalizers"),
			may("delete list watch", core, "pods"),
			tell(),
		}},
		{name: "daemon-set-controller", rules: []rule{
			may(reads, olderGroups, "daemonsets"),
			may("update", olderGroups, "daemonsets/status"),
			may("update", olderGroups, "daemonsets/finalizers"),
			may("list watch", core, "nodes"),
			podsOfOwner(),
			may("create", core, "pods/binding"),
			may(all, "apps", "controllerrevisions"),
			tell(),
		}},
		{name: "deployment-controller", rules: []rule{
			may(reads+" update", olderGroups, "deployments"),
			may("update", olderGroups, "deployments/status"),
			may("update", olderGroups, "deployments/finalizers"),
			may(all, olderGroups, "replicasets"),
			may(reads+" update", core, "pods"),
			tell(),
		}},
		{name: "disruption-controller", rules: []rule{
			may(reads, olderGroups, "deployments"),
			may(reads, olderGroups, "replicasets"),
			may(reads, core, "replicationcontrollers"),
			may(reads, "policy", "poddisruptionbudgets"),
			may(reads, "apps", "statefulsets"),
			may("update", "policy", "poddisruptionbudgets/status"),
			may(changes, core, "pods/status"),
			may("get", every, "*/scale"),
			tell(),
		}},
		{name: "horizontal-pod-autoscaler", rules: []rule{
			may(reads, "autoscaling", "horizontalpodautoscalers"),
			may("update", "autoscaling", "horizontalpodautoscalers/status"),
			may("get update", every, "*/scale"),
			may("list watch", core, "pods"),
			may("list watch", "metrics.platform.io", "pods"),
			may(reads, "custom.metrics.platform.io", every),
			may(reads, "external.metrics.platform.io", every),
			tell(),
		}},
		{name: "job-controller", rules: []rule{
			may(reads+" "+changes, "batch", "jobs"),
			may("update", "batch", "jobs/status"),
			may("update", "batch", "jobs/finalizers"),
			podsOfOwner(),
			tell(),
		}},
		{name: "replicaset-controller", rules: []rule{
			may(reads+" update", olderGroups, "replicasets"),
			may("update", olderGroups, "replicasets/status"),
			may("update", olderGroups, "replicasets/finalizers"),
			podsOfOwner(),
			tell(),
		}},
		{name: "replication-controller", rules: []rule{
			may(reads+" update", core, "replicationcontrollers"),
			may("update", core, "replicationcontrollers/status"),
			may("update", core, "replicationcontrollers/finalizers"),
			podsOfOwner(),
			tell(),
		}},
		{name: "resource-claim-controller", rules: []rule{
			may(reads, core, "pods"),
			may("update", core, "pods/finalizers"),
			may(reads+" create delete", devices, "resourceclaims"),
			may(changes, devices, "resourceclaims resourceclaims/status"),
			may(changes, core, "pods/status"),
			tell(),
		}},
		{name: "statefulset-controller", rules: []rule{
			may("list watch", core, "pods"),
			may(reads, "apps", "statefulsets"),
			may("update", "apps", "statefulsets/status"),
			may("update", "apps", "statefulsets/finalizers"),
			may("create delete get patch update", core, "pods"),
			may(all, "apps", "controllerrevisions"),
			may(reads+" create", core, "persistentvolumeclaims"),
			may("delete update", core, "persistentvolumeclaims"),
			may("update", core, "pods/finalizers"),
			tell(),
		}},
		{name: "ttl-after-finished-controller", rules: []rule{
			may(reads+" delete", "batch", "jobs"),
			tell(),
		}},
	}
}

func storageControllers() []standard {
	return []standard{
		{name: "attachdetach-controller", rules: []rule{
			may("list watch", core, "persistentvolumeclaims persistentvolumes"),
			may(reads, core, "nodes"),
			may(changes, core, "nodes/status"),
			may("list watch", core, "pods"),
			tell(),
			may(reads+" create delete", storage, "volumeattachments"),
			may(reads, storage, "csidrivers"),
			may(reads, storage, "csinodes"),
		}},
		{name: "ephemeral-volume-controller", rules: []rule{
			may(reads, core, "pods"),
			may("update", core, "pods/finalizers"),
			may(reads+" create", core, "persistentvolumeclaims"),
			tell(),
		}},
		{name: "expand-controller", rules: []rule{
			may(reads+" "+changes, core, "persistentvolumes"),
			may(changes, core, "persistentvolumeclaims/status"),
			may(reads, core, "persistentvolumeclaims"),
			tell(),
			may("get", core, "services"),
		}},
		{name: "persistent-volume-binder", rules: []rule{
			may(reads+" create delete update", core, "persistentvolumes"),
			may("update", core, "persistentvolumes/status"),
			may(reads+" update", core, "persistentvolumeclaims"),
			may("update", core, "persistentvolumeclaims/status"),
			may(reads+" create delete", core, "pods"),
			may(reads, storage, "storageclasses"),
			may("list watch", core, "nodes"),
			tell(),
			may("watch", core, "events"),
			may("get", core, "services"),
		}},
		{name: "pv-protection-controller", rules: []rule{
			may(reads+" update", core, "persistentvolumes"),
			tell(),
		}},
		{name: "pvc-protection-controller", rules: []rule{
			may(reads+" update", core, "persistentvolumeclaims"),
			may(reads, core, "pods"),
			tell(),
		}},
		{name: "selinux-warning-controller", rules: []rule{
			tell(),
			may(reads, core, "persistentvolumes"),
			may(reads, core, "persistentvolumeclaims"),
			may(reads, core, "pods"),
			may(reads, storage, "csidrivers"),
		}},
		{name: "volumeattributesclass-protection-controller", rules: []rule{
			may(reads, core, "persistentvolumeclaims"),
			may(reads, core, "persistentvolumes"),
			may(reads+" update", storage, "volumeattributesclasses"),
			tell(),
		}},
	}
}

func networkControllers() []standard {
	const sliced = reads + " create delete update"
	return []standard{
		{name: "endpoint-controller", rules: []rule{
			may(reads, core, "pods services"),
			may(sliced, core, "endpoints"),
			may("create", core, "endpoints/restricted"),
			tell(),
		}},
		{name: "endpointslice-controller", rules: []rule{
			may(reads, core, "nodes pods services"),
			may("update", core, "services/finalizers"),
			may(sliced, slicing, "endpointslices"),
			tell(),
		}},
		{name: "endpointslicemirroring-controller", rules: []rule{
			may(reads, core, "endpoints services"),
			may("update", core, "services/finalizers"),
			may("update", core, "endpoints/finalizers"),
			may(sliced, slicing, "endpointslices"),
			tell(),
		}},
		{name: "route-controller", rules: []rule{
			may("list watch", core, "nodes"),
			may("patch", core, "nodes/status"),
			tell(),
		}},
		{name: "service-cidrs-controller", rules: []rule{
			may(reads+" "+changes, networking, "servicecidrs"),
			may(changes, networking, "servicecidrs/finalizers"),
			may(changes, networking, "servicecidrs/status"),
			may(reads, networking, "ipaddresses"),
			tell(),
		}},
		{name: "service-controller", rules: []rule{
			may(reads, core, "services"),
			may(changes, core, "services/status"),
			may("list watch", core, "nodes"),
			tell(),
		}},
	}
}

func clusterControllers() []standard {
	return []standard{
		{name: "certificate-controller", rules: []rule{
			may(reads+" delete", signing, "certificatesigningrequests"),
			may("update", signing, "certificatesigningrequests/approval certificatesigningrequests/status"),
			may("approve", signing, "signers", nodeSigner),
			may("sign", signing, "signers", clientSigner, nodeSigner, servingSigner, legacySigner),
			may("create", reviewGroup, "subjectaccessreviews"),
			tell(),
		}},
		{name: "clusterrole-aggregation-controller", rules: []rule{
			may(reads+" escalate patch update", group, "clusterroles"),
		}},
		{name: "generic-garbage-collector", rules: []rule{
			may(reads+" delete patch update", every, every),
			tell(),
		}},
		{name: "legacy-service-account-token-cleaner", rules: []rule{
			may("get", core, "configmaps", "platform-apiserver-legacy-service-account-token-tracking"),
			may("delete patch", core, "secrets"),
		}},
		{name: "namespace-controller", rules: []rule{
			may(reads+" delete", core, "namespaces"),
			may("update", core, "namespaces/finalize namespaces/status"),
			may(reads+" delete deletecollection", every, every),
		}},
		{name: "node-controller", rules: []rule{
			may(reads+" delete patch update", core, "nodes"),
			may(changes, core, "nodes/status"),
			may(changes, core, "pods/status"),
			may(reads+" delete", core, "pods"),
			tell(),
		}},
		{name: "pod-garbage-collector", rules: []rule{
			may("delete list watch", core, "pods"),
			may(reads, core, "nodes"),
			may("patch", core, "pods/status"),
		}},
		{name: "resourcequota-controller", rules: []rule{
			may("list watch", every, every),
			may("update", core, "resourcequotas/status"),
			tell(),
		}},
		{name: "root-ca-cert-publisher", rules: []rule{
			may("create update", core, "configmaps"),
			tell(),
		}},
		{name: "service-account-controller", rules: []rule{
			may("create", core, "serviceaccounts"),
			tell(),
		}},
		{name: "ttl-controller", rules: []rule{
			may("list patch update watch", core, "nodes"),
			tell(),
		}},
		{name: "validatingadmissionpolicy-status-controller", rules: []rule{
			may(reads, registration, "validatingadmissionpolicies"),
			may("get patch update", registration, "validatingadmissionpolicies/status"),
			tell(),
		}},
	}
}
