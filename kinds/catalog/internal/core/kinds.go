package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of the core group with their functions; Pods, volumes and events are in
// packages of their own.
func Kinds(n *meta.Naming) []family.Kind {
	return []family.Kind{
		{Name: "/v1/ConfigMap", Rules: configMapRules()},
		{Name: "/v1/Endpoints", Rules: endpointsRules()},
		{Name: "/v1/LimitRange", Rules: family.Unenforced(limitRangeRules(), "no default and no limit is applied")},
		{Name: "/v1/Namespace", Rules: namespaceRules(n), Views: family.Views{"finalize": {Write: writeFinalizers}}},
		{Name: "/v1/Node", Rules: nodeRules()},
		{Name: "/v1/ReplicationController", Rules: replicationControllerRules()},
		{Name: "/v1/ResourceQuota", Rules: family.Unenforced(resourceQuotaRules(), "nothing is counted, and nothing is refused")},
		{Name: "/v1/Secret", Rules: secretRules(n)},
		{Name: "/v1/Service", Rules: serviceRules(n)},
	}
}
