package core

import (
	"github.com/troupe-api/troupe/kinds/api/core/service"
	"github.com/troupe-api/troupe/kinds/api/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Kinds returns the core group's kinds with their strategies for naming profile n.
func Kinds(n *meta.Naming) []schema.Behavior {
	return []schema.Behavior{
		{Name: "/v1/Endpoints", Strategy: schema.AlwaysWarns{}},
		{Name: "/v1/LimitRange", Strategy: limitRangeStrategy{}},
		// Only the finalize subresource may change spec.finalizers. Otherwise an update that omits
		// the field would delete the namespace before it is empty.
		{Name: "/v1/Namespace", Strategy: namespaceStrategy{label: n.MetadataNameLabel(), finalizer: n.NamespaceFinalizer()}, Views: schema.Views{"finalize": {Write: writeFinalizers}, "status": {Write: writeNamespaceStatus}}},
		{Name: "/v1/Node", Strategy: nodeStrategy{}, Views: schema.Views{"status": {Write: writeNodeStatus}}},
		{Name: "/v1/ReplicationController", Strategy: replicationControllerStrategy{}},
		{Name: "/v1/ResourceQuota", Strategy: resourceQuotaStrategy{}},
		{Name: "/v1/Secret", Strategy: secretStrategy{}},
		{Name: "/v1/Service", Strategy: serviceStrategy{}},
	}
}

// RuleFunctions contains the functions that declarative rules call by name.
var RuleFunctions = map[string]schema.CheckFunc{
	"clusterIPs":     schema.ObjectCheck(func(spec tree.Tree, _ string, faults *schema.Faults) { service.ValidateClusterIPs(spec, faults) }),
	"keyPair":        schema.ObjectCheck(warnOfKeyPair),
	"limitRatio":     validateRatio,
	"quotaResources": schema.ObjectCheck(validateQuotaResources),
	"resourceName":   schema.TextCheck(func(name, path string, faults *schema.Faults) { resourcelist.ValidateName(name, path, faults) }),
	"nodeResources":  schema.ObjectCheck(validateNodeResources),
	"secretJSON":     schema.TextCheck(validateSecretJSON),
}
