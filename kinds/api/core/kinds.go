package core

import (
	"github.com/troupe-api/troupe/kinds/api/apps"
	"github.com/troupe-api/troupe/kinds/api/core/pod"
	"github.com/troupe-api/troupe/kinds/api/core/service"
	"github.com/troupe-api/troupe/kinds/api/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Kinds lists the kinds of the core group with their strategies, in the names of profile n. Pods,
// volumes and Events have packages of their own.
func Kinds(n *meta.Naming) []schema.Behavior {
	addresses := warning.NewAddresses(n)
	return []schema.Behavior{
		{Name: "/v1/Endpoints", Strategy: endpointsStrategy{addresses: addresses, managedBy: n.Translate("endpoints.platform.io/managed-by")}},
		{Name: "/v1/LimitRange", Strategy: limitRangeStrategy{}},
		// Only the finalize subresource changes spec.finalizers. Otherwise an update
		// without the field would release the namespace before it is empty.
		{Name: "/v1/Namespace", Strategy: namespaceStrategy{label: n.MetadataNameLabel(), finalizer: n.NamespaceFinalizer()}, Views: schema.Views{"finalize": {Write: writeFinalizers}, "status": {Write: writeNamespaceStatus}}},
		{Name: "/v1/Node", Strategy: nodeStrategy{addresses: addresses, unused: "spec.externalID: this field is deprecated, and is unused by " + n.Product()}, Views: schema.Views{"status": {Write: writeNodeStatus}}},
		{Name: "/v1/ReplicationController", Strategy: replicationControllerStrategy{NamedWorkload: apps.NamedWorkload{TemplateStrategy: pod.NewTemplateStrategy(n, "spec", "template")}}},
		{Name: "/v1/ResourceQuota", Strategy: resourceQuotaStrategy{}},
		{Name: "/v1/Secret", Strategy: secretStrategy{tls: n.Translate("platform.io/tls")}},
		// The status warns separately: the cloud controller writes its addresses, not the
		// author of the spec.
		{Name: "/v1/Service", Strategy: newServiceStrategy(n, addresses), Views: schema.Views{
			"status": {Warn: warning.LoadBalancerStatus(addresses)},
		}},
		{Name: "/v1/ServiceAccount", Strategy: serviceAccountStrategy{key: n.Translate("platform.io/enforce-mountable-secrets")}},
	}
}

// RuleFunctions are the functions that declared rules call.
var RuleFunctions = map[string]schema.CheckFunc{
	"clusterIPs":    schema.ObjectCheck(func(spec tree.Tree, _ string, faults *schema.Faults) { service.ValidateClusterIPs(spec, faults) }),
	"limit":         schema.ObjectCheck(validateLimit),
	"nodeResources": schema.ObjectCheck(validateNodeResources),
	"secretJSON":    schema.TextCheck(validateSecretJSON),
}
