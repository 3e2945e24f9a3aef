package rbac

// The resources of workloads, by group, that users see and change.
const (
	interactive = "pods/attach pods/exec pods/portforward pods/proxy"
	appScales   = "deployments/scale replicasets/scale statefulsets/scale"
	oldScales   = "deployments/scale replicasets/scale replicationcontrollers/scale"
	apps        = "daemonsets deployments replicasets statefulsets"
	oldApps     = "daemonsets deployments ingresses networkpolicies replicasets"
	seenCore    = "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods " +
		"replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status"
	seenStates = "bindings events limitranges namespaces/status pods/log pods/status " +
		"replicationcontrollers/status resourcequotas resourcequotas/status"
	ownedCore = "configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale " +
		"secrets serviceaccounts services services/proxy"
)

// userRoles are for people.
func userRoles() []standard {
	return []standard{
		{name: "cluster-admin", bound: to("group system:masters"), rules: []rule{
			may(every, every, every),
			{verbs: []string{every}, paths: []string{every}},
		}},
		{name: "admin", gathers: "admin"},
		{name: "edit", gathers: "edit", into: "admin"},
		{name: "view", gathers: "view", into: "edit"},
		{name: "system:aggregate-to-admin", into: "admin", rules: []rule{
			may("create", reviewGroup, "localsubjectaccessreviews"),
			may(reads+" "+writes, group, "rolebindings roles"),
		}},
		{name: "system:aggregate-to-edit", into: "edit", rules: editing()},
		{name: "system:aggregate-to-view", into: "view", rules: viewing()},
		{name: "system:discovery", bound: to("group system:authenticated"), rules: []rule{
			reach("/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/"),
		}},
		{name: "system:basic-user", bound: to("group system:authenticated"), rules: []rule{
			may("create", reviewGroup, "selfsubjectaccessreviews selfsubjectrulesreviews"),
			may("create", tokenGroup, "selfsubjectreviews"),
		}},
		{name: "system:public-info-viewer", bound: to("group system:authenticated", "group system:unauthenticated"), rules: []rule{
			reach("/healthz /livez /readyz /version /version/"),
		}},
		{name: "system:service-account-issuer-discovery", bound: to("group system:serviceaccounts"), rules: []rule{
			reach("/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/"),
		}},
	}
}

// editing is what an editor may do beside viewing.
func editing() []rule {
	return []rule{
		may(reads, core, interactive+" secrets services/proxy"),
		may("impersonate", core, "serviceaccounts"),
		may(writes, core, "pods "+interactive),
		may("create", core, "pods/eviction"),
		may(writes, core, ownedCore),
		may("create", core, "serviceaccounts/token"),
		may(writes, "apps", apps+" "+appScales+" deployments/rollback"),
		may(writes, "autoscaling", "horizontalpodautoscalers"),
		may(writes, "batch", "cronjobs jobs"),
		may(writes, "extensions", oldApps+" "+oldScales+" deployments/rollback"),
		may(writes, "policy", "poddisruptionbudgets"),
		may(writes, networking, "ingresses networkpolicies"),
		may(reads+" "+writes, leasing, "leases"),
		may(writes, devices, "resourceclaims resourceclaimtemplates"),
	}
}

// viewing is what a viewer may see.
func viewing() []rule {
	return []rule{
		may(reads, core, seenCore),
		may(reads, core, seenStates),
		may(reads, core, "namespaces"),
		may(reads, slicing, "endpointslices"),
		may(reads, "apps", "controllerrevisions daemonsets/status deployments/status replicasets/status statefulsets/status "+apps+" "+appScales),
		may(reads, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status"),
		may(reads, "batch", "cronjobs cronjobs/status jobs jobs/status"),
		may(reads, "extensions", oldApps+" "+oldScales+" daemonsets/status deployments/status ingresses/status replicasets/status"),
		may(reads, "policy", "poddisruptionbudgets poddisruptionbudgets/status"),
		may(reads, networking, "ingresses ingresses/status networkpolicies"),
		may(reads, devices, "resourceclaims resourceclaims/status resourceclaimtemplates"),
	}
}
