package catalog

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// definitionKey is the kind of definitions there.
const definitionKey = "apiextensions.platform.io/v1/CustomResourceDefinition"

// rulesByKind lists the functions for what declarations cannot say, by
// "group/version/Kind" in platform form; the core group is "". It is the one place that names them.
func rulesByKind(n *meta.Naming) map[string]schema.Rules {
	return map[string]schema.Rules{
		"/v1/ConfigMap":             configMapRules(),
		"/v1/Endpoints":             endpointsRules(),
		"/v1/Event":                 eventRules(n),
		"/v1/LimitRange":            unenforced(limitRangeRules(), "no default and no limit is applied"),
		"/v1/Namespace":             namespaceRules(n),
		"/v1/Node":                  nodeRules(),
		"/v1/PersistentVolume":      persistentVolumeRules(),
		"/v1/PersistentVolumeClaim": persistentVolumeClaimRules(n),
		"/v1/Pod":                   podRules(n),
		"/v1/PodTemplate":           podTemplateRules(),
		"/v1/ReplicationController": replicationControllerRules(),
		"/v1/ResourceQuota":         unenforced(resourceQuotaRules(), "nothing is counted, and nothing is refused"),
		"/v1/Secret":                secretRules(n),
		"/v1/Service":               serviceRules(n),
		"admissionregistration.platform.io/v1/MutatingWebhookConfiguration":     unenforced(webhookRules(), "no webhook is called"),
		"admissionregistration.platform.io/v1/ValidatingAdmissionPolicy":        unenforced(admissionPolicyRules(), "no request is checked"),
		"admissionregistration.platform.io/v1/ValidatingAdmissionPolicyBinding": unenforced(admissionBindingRules(), "no request is checked"),
		"admissionregistration.platform.io/v1/ValidatingWebhookConfiguration":   unenforced(webhookRules(), "no webhook is called"),
		"apiextensions.platform.io/v1/CustomResourceDefinition":                 definitionRules(n),
		"apiregistration.platform.io/v1/APIService":                             unenforcedWhere(isRemoteAPIService, apiServiceRules(), "no request is passed on to the service"),
		"apps/v1/ControllerRevision":                                            revisionRules(),
		"apps/v1/DaemonSet":                                                     daemonSetRules(),
		"apps/v1/Deployment":                                                    deploymentRules(),
		"apps/v1/ReplicaSet":                                                    replicaSetRules(),
		"apps/v1/StatefulSet":                                                   statefulSetRules(),
		"authentication.platform.io/v1/TokenRequest":                            tokenRequestRules(),
		"authorization.platform.io/v1/LocalSubjectAccessReview":                 localAccessReviewRules(),
		"authorization.platform.io/v1/SelfSubjectAccessReview":                  selfAccessReviewRules(),
		"authorization.platform.io/v1/SubjectAccessReview":                      accessReviewRules(),
		"autoscaling/v2/HorizontalPodAutoscaler":                                autoscalerRules(newAutoscalerAnnotations(n)),
		"batch/v1/CronJob":                                                      cronJobRules(),
		"batch/v1/Job":                                                          jobRules(n),
		"certificates.platform.io/v1/CertificateSigningRequest":                 certificateRequestRules(n),
		"coordination.platform.io/v1/Lease":                                     leaseRules(),
		"discovery.platform.io/v1/EndpointSlice":                                endpointSliceRules(),
		"events.platform.io/v1/Event":                                           eventsGroupRules(),
		"networking.platform.io/v1/IPAddress":                                   unenforced(ipAddressRules(), "addresses are not taken by it"),
		"networking.platform.io/v1/Ingress":                                     ingressRules(n),
		"networking.platform.io/v1/IngressClass":                                ingressClassRules(),
		"networking.platform.io/v1/NetworkPolicy":                               networkPolicyRules(),
		"networking.platform.io/v1/ServiceCIDR":                                 unenforced(serviceCIDRRules(), "no address is handed out from its ranges"),
		"node.platform.io/v1/RuntimeClass":                                      runtimeClassRules(),
		"policy/v1/PodDisruptionBudget":                                         disruptionBudgetRules(),
		"rbac.authorization.platform.io/v1/ClusterRole":                         clusterRoleRules(),
		"rbac.authorization.platform.io/v1/ClusterRoleBinding":                  clusterRoleBindingRules(n),
		"rbac.authorization.platform.io/v1/Role":                                roleRules(),
		"rbac.authorization.platform.io/v1/RoleBinding":                         roleBindingRules(n),
		"resource.platform.io/v1/DeviceClass":                                   deviceClassRules(),
		"resource.platform.io/v1/ResourceClaim":                                 resourceClaimRules(),
		"resource.platform.io/v1/ResourceClaimTemplate":                         resourceClaimTemplateRules(),
		"resource.platform.io/v1/ResourceSlice":                                 resourceSliceRules(),
		"scheduling.platform.io/v1/PriorityClass":                               priorityClassRules(),
		"storage.platform.io/v1/CSIDriver":                                      csiDriverRules(),
		"storage.platform.io/v1/CSINode":                                        csiNodeRules(),
		"storage.platform.io/v1/CSIStorageCapacity":                             csiStorageCapacityRules(),
		"storage.platform.io/v1/StorageClass":                                   storageClassRules(),
		"storage.platform.io/v1/VolumeAttachment":                               volumeAttachmentRules(),
		"storage.platform.io/v1/VolumeAttributesClass":                          volumeAttributesClassRules(),
	}
}
