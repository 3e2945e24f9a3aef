package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of the core group with their functions; Pods, volumes and events are in packages of
// their own, and kinds that need no more than their declaration have no entry.
//
// n is the naming profile: label keys, secret types and finalizers are translated once here, not for each
// request.
func Kinds(n *meta.Naming) []family.Kind {
	services, addresses := newServiceWarnings(n), warning.NewAddresses(n)
	return []family.Kind{
		{Name: "/v1/ConfigMap", Rules: configMapRules()},
		{Name: "/v1/Endpoints", Rules: family.Warn(endpointsRules(), endpointsWarnings(n))},
		{Name: "/v1/LimitRange", Rules: limitRangeRules()},
		// The namespace controller ends a deletion through finalize, the only way to change
		// spec.finalizers. Giving clients the field in the main resource would let an update without it
		// release the namespace before it is empty.
		{Name: "/v1/Namespace", Rules: namespaceRules(n), Views: family.Views{"finalize": {Write: writeFinalizers}, "status": {Write: writeNamespaceStatus}}},
		{Name: "/v1/Node", Rules: family.Warn(nodeRules(), nodeWarnings(n)), Views: family.Views{"status": {Write: writeNodeStatus}}},
		{Name: "/v1/ReplicationController", Rules: family.WarnChanges(pod.NewWarnings(n).WithTemplateProfiles(replicationControllerRules(), "spec", "template"), controllerWarnings(n))},
		{Name: "/v1/ResourceQuota", Rules: family.WarnChanges(resourceQuotaRules(), warnQuota)},
		{Name: "/v1/Secret", Rules: family.Warn(secretRules(n), secretWarnings(n))},
		// The status warns by itself: the cloud's controller, not the author of the spec, writes these
		// addresses.
		{Name: "/v1/Service", Rules: family.Warn(serviceRules(n), services.warn), Views: family.Views{
			"status": {Warn: warning.LoadBalancerStatus(addresses)},
		}},
		{Name: "/v1/ServiceAccount", Rules: family.WarnChanges(schema.Rules{}, serviceAccountWarnings(n))},
	}
}
