package rbac

import "strings"

// Workload resources that users see and change.
const (
	podInteractiveSubresources  = "pods/attach pods/exec pods/portforward pods/proxy"
	appsScaleSubresources       = "deployments/scale replicasets/scale statefulsets/scale"
	extensionsScaleSubresources = "deployments/scale replicasets/scale replicationcontrollers/scale"
	appsWorkloads               = "daemonsets deployments replicasets statefulsets"
	extensionsWorkloads         = "daemonsets deployments ingresses networkpolicies replicasets"
	viewCoreResources           = "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods " +
		"replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status"
	viewStatusResources = "bindings limitranges namespaces/status pods/log pods/status " +
		"replicationcontrollers/status resourcequotas resourcequotas/status"
	editCoreResources = "configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale " +
		"secrets serviceaccounts services services/proxy"
)

// userRoles are for people.
func userRoles() []defaultRole {
	return []defaultRole{
		{name: "cluster-admin", subjects: bindTo("group system:masters"), rules: []rule{
			newRule(wildcard, wildcard, wildcard),
			{verbs: []string{wildcard}, paths: []string{wildcard}},
		}},
		{name: "admin", aggregates: "admin"},
		{name: "edit", aggregates: "edit", aggregateTo: "admin"},
		{name: "view", aggregates: "view", aggregateTo: "edit"},
		{name: "system:aggregate-to-admin", aggregateTo: "admin", rules: []rule{
			newRule("create", authorizationGroup, "localsubjectaccessreviews"),
			newRule(readVerbs+" "+writeVerbs, group, "rolebindings roles"),
		}},
		{name: "system:aggregate-to-edit", aggregateTo: "edit", rules: editRules()},
		{name: "system:aggregate-to-view", aggregateTo: "view", rules: viewRules()},
		{name: "system:discovery", subjects: bindTo("group system:authenticated"), rules: []rule{
			newPathRule("/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/"),
		}},
		{name: "system:basic-user", subjects: bindTo("group system:authenticated"), rules: []rule{
			newRule("create", authorizationGroup, "selfsubjectaccessreviews selfsubjectrulesreviews"),
			newRule("create", authenticationGroup, "selfsubjectreviews"),
		}},
		{name: "system:public-info-viewer", subjects: bindTo("group system:authenticated", "group system:unauthenticated"), rules: []rule{
			newPathRule("/healthz /livez /readyz /version /version/"),
		}},
		{name: "system:service-account-issuer-discovery", subjects: bindTo("group system:serviceaccounts"), rules: []rule{
			newPathRule("/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/"),
		}},
	}
}

// pageRoles let everyone read pages, if there are any. They have a separate role, so that operators
// can restrict access by removing one binding.
func pageRoles(pages []string) []defaultRole {
	if len(pages) == 0 {
		return nil
	}
	return []defaultRole{{
		name: "system:console", subjects: bindTo("group system:authenticated", "group system:unauthenticated"),
		rules: []rule{newPathRule(strings.Join(pages, " "))},
	}}
}

// editRules are for editors, in addition to viewRules.
func editRules() []rule {
	return []rule{
		newRule(readVerbs, coreGroup, podInteractiveSubresources+" secrets services/proxy"),
		newRule("impersonate", coreGroup, "serviceaccounts"),
		newRule(writeVerbs, coreGroup, "pods "+podInteractiveSubresources),
		newRule("create", coreGroup, "pods/eviction"),
		newRule(writeVerbs, coreGroup, editCoreResources),
		newRule(writeVerbs, eventGroups, "events"),
		newRule("create", coreGroup, "serviceaccounts/token"),
		newRule(writeVerbs, "apps", appsWorkloads+" "+appsScaleSubresources+" deployments/rollback"),
		newRule(writeVerbs, "autoscaling", "horizontalpodautoscalers"),
		newRule(writeVerbs, "batch", "cronjobs jobs"),
		newRule(writeVerbs, "extensions", extensionsWorkloads+" "+extensionsScaleSubresources+" deployments/rollback"),
		newRule(writeVerbs, "policy", "poddisruptionbudgets"),
		newRule(writeVerbs, networkingGroup, "ingresses networkpolicies"),
		newRule(readVerbs+" "+writeVerbs, coordinationGroup, "leases"),
		newRule(writeVerbs, resourceGroup, "resourceclaims resourceclaimtemplates"),
	}
}

func viewRules() []rule {
	return []rule{
		newRule(readVerbs, coreGroup, viewCoreResources),
		newRule(readVerbs, coreGroup, viewStatusResources),
		newRule(readVerbs, eventGroups, "events"),
		newRule(readVerbs, coreGroup, "namespaces"),
		newRule(readVerbs, discoveryGroup, "endpointslices"),
		newRule(readVerbs, "apps", "controllerrevisions daemonsets/status deployments/status replicasets/status statefulsets/status "+appsWorkloads+" "+appsScaleSubresources),
		newRule(readVerbs, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status"),
		newRule(readVerbs, "batch", "cronjobs cronjobs/status jobs jobs/status"),
		newRule(readVerbs, "extensions", extensionsWorkloads+" "+extensionsScaleSubresources+" daemonsets/status deployments/status ingresses/status replicasets/status"),
		newRule(readVerbs, "policy", "poddisruptionbudgets poddisruptionbudgets/status"),
		newRule(readVerbs, networkingGroup, "ingresses ingresses/status networkpolicies"),
		newRule(readVerbs, resourceGroup, "resourceclaims resourceclaims/status resourceclaimtemplates"),
	}
}
