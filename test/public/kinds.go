package public

import (
	scaling2beta2 "k8s.io/api-v0.35/autoscaling/v2beta2"
	adm "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	authn "k8s.io/api/authentication/v1"
	authz "k8s.io/api/authorization/v1"
	scaling1 "k8s.io/api/autoscaling/v1"
	scaling2 "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	certificates "k8s.io/api/certificates/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	events "k8s.io/api/events/v1"
	flowcontrol "k8s.io/api/flowcontrol/v1"
	networking "k8s.io/api/networking/v1"
	node "k8s.io/api/node/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	devices "k8s.io/api/resource/v1"
	scheduling "k8s.io/api/scheduling/v1"
	storage "k8s.io/api/storage/v1"
	migration "k8s.io/api/storagemigration/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	registration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds maps every kind in the catalog, with its Kubernetes name, to an empty value of its public
// Go type.
var Kinds = map[meta.GroupVersionKind]any{
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingAdmissionPolicy"}:          adm.MutatingAdmissionPolicy{},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingAdmissionPolicyBinding"}:   adm.MutatingAdmissionPolicyBinding{},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"}:     adm.MutatingWebhookConfiguration{},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicy"}:        adm.ValidatingAdmissionPolicy{},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicyBinding"}: adm.ValidatingAdmissionPolicyBinding{},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"}:   adm.ValidatingWebhookConfiguration{},
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}:                 extensions.CustomResourceDefinition{},
	{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}:                             registration.APIService{},
	{Group: "apps", Version: "v1", Kind: "ControllerRevision"}:                                       apps.ControllerRevision{},
	{Group: "apps", Version: "v1", Kind: "DaemonSet"}:                                                apps.DaemonSet{},
	{Group: "apps", Version: "v1", Kind: "Deployment"}:                                               apps.Deployment{},
	{Group: "apps", Version: "v1", Kind: "ReplicaSet"}:                                               apps.ReplicaSet{},
	{Group: "apps", Version: "v1", Kind: "StatefulSet"}:                                              apps.StatefulSet{},
	{Group: "authentication.k8s.io", Version: "v1", Kind: "SelfSubjectReview"}:                       authn.SelfSubjectReview{},
	{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"}:                            authn.TokenRequest{},
	{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenReview"}:                             authn.TokenReview{},
	{Group: "authorization.k8s.io", Version: "v1", Kind: "LocalSubjectAccessReview"}:                 authz.LocalSubjectAccessReview{},
	{Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectAccessReview"}:                  authz.SelfSubjectAccessReview{},
	{Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectRulesReview"}:                   authz.SelfSubjectRulesReview{},
	{Group: "authorization.k8s.io", Version: "v1", Kind: "SubjectAccessReview"}:                      authz.SubjectAccessReview{},
	{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler"}:                           scaling1.HorizontalPodAutoscaler{},
	{Group: "autoscaling", Version: "v1", Kind: "Scale"}:                                             scaling1.Scale{},
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}:                           scaling2.HorizontalPodAutoscaler{},
	{Group: "autoscaling", Version: "v2beta2", Kind: "HorizontalPodAutoscaler"}:                      scaling2beta2.HorizontalPodAutoscaler{},
	{Group: "batch", Version: "v1", Kind: "CronJob"}:                                                 batch.CronJob{},
	{Group: "batch", Version: "v1", Kind: "Job"}:                                                     batch.Job{},
	{Group: "certificates.k8s.io", Version: "v1", Kind: "ClusterTrustBundle"}:                        certificates.ClusterTrustBundle{},
	{Group: "certificates.k8s.io", Version: "v1", Kind: "PodCertificateRequest"}:                     certificates.PodCertificateRequest{},
	{Group: "storagemigration.k8s.io", Version: "v1", Kind: "StorageVersionMigration"}:               migration.StorageVersionMigration{},
	{Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest"}:                 certificates.CertificateSigningRequest{},
	{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}:                                     coordination.Lease{},
	{Version: "v1", Kind: "Binding"}:                                                                 core.Binding{},
	{Version: "v1", Kind: "ComponentStatus"}:                                                         core.ComponentStatus{},
	{Version: "v1", Kind: "ConfigMap"}:                                                               core.ConfigMap{},
	{Version: "v1", Kind: "Endpoints"}:                                                               core.Endpoints{},
	{Version: "v1", Kind: "Event"}:                                                                   core.Event{},
	{Version: "v1", Kind: "LimitRange"}:                                                              core.LimitRange{},
	{Version: "v1", Kind: "Namespace"}:                                                               core.Namespace{},
	{Version: "v1", Kind: "Node"}:                                                                    core.Node{},
	{Version: "v1", Kind: "PersistentVolume"}:                                                        core.PersistentVolume{},
	{Version: "v1", Kind: "PersistentVolumeClaim"}:                                                   core.PersistentVolumeClaim{},
	{Version: "v1", Kind: "NodeProxyOptions"}:                                                        core.NodeProxyOptions{},
	{Version: "v1", Kind: "PodAttachOptions"}:                                                        core.PodAttachOptions{},
	{Version: "v1", Kind: "PodExecOptions"}:                                                          core.PodExecOptions{},
	{Version: "v1", Kind: "PodPortForwardOptions"}:                                                   core.PodPortForwardOptions{},
	{Version: "v1", Kind: "PodProxyOptions"}:                                                         core.PodProxyOptions{},
	{Version: "v1", Kind: "ServiceProxyOptions"}:                                                     core.ServiceProxyOptions{},
	{Version: "v1", Kind: "Pod"}:                                                                     core.Pod{},
	{Version: "v1", Kind: "PodTemplate"}:                                                             core.PodTemplate{},
	{Version: "v1", Kind: "ReplicationController"}:                                                   core.ReplicationController{},
	{Version: "v1", Kind: "ResourceQuota"}:                                                           core.ResourceQuota{},
	{Version: "v1", Kind: "Secret"}:                                                                  core.Secret{},
	{Version: "v1", Kind: "Service"}:                                                                 core.Service{},
	{Version: "v1", Kind: "ServiceAccount"}:                                                          core.ServiceAccount{},
	{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice"}:                                discovery.EndpointSlice{},
	{Group: "events.k8s.io", Version: "v1", Kind: "Event"}:                                           events.Event{},
	{Group: "networking.k8s.io", Version: "v1", Kind: "IPAddress"}:                                   networking.IPAddress{},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"}:                                     networking.Ingress{},
	{Group: "networking.k8s.io", Version: "v1", Kind: "IngressClass"}:                                networking.IngressClass{},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}:                               networking.NetworkPolicy{},
	{Group: "networking.k8s.io", Version: "v1", Kind: "ServiceCIDR"}:                                 networking.ServiceCIDR{},
	{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass"}:                                      node.RuntimeClass{},
	{Group: "policy", Version: "v1", Kind: "Eviction"}:                                               policy.Eviction{},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"}:                                    policy.PodDisruptionBudget{},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}:                         rbac.ClusterRole{},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding"}:                  rbac.ClusterRoleBinding{},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}:                                rbac.Role{},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"}:                         rbac.RoleBinding{},
	{Group: "resource.k8s.io", Version: "v1", Kind: "DeviceClass"}:                                   devices.DeviceClass{},
	{Group: "resource.k8s.io", Version: "v1", Kind: "DeviceTaintRule"}:                               devices.DeviceTaintRule{},
	{Group: "resource.k8s.io", Version: "v1", Kind: "ResourceClaim"}:                                 devices.ResourceClaim{},
	{Group: "resource.k8s.io", Version: "v1", Kind: "ResourceClaimTemplate"}:                         devices.ResourceClaimTemplate{},
	{Group: "resource.k8s.io", Version: "v1", Kind: "ResourceSlice"}:                                 devices.ResourceSlice{},
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Kind: "FlowSchema"}:                       flowcontrol.FlowSchema{},
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Kind: "PriorityLevelConfiguration"}:       flowcontrol.PriorityLevelConfiguration{},
	{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}:                               scheduling.PriorityClass{},
	{Group: "storage.k8s.io", Version: "v1", Kind: "CSIDriver"}:                                      storage.CSIDriver{},
	{Group: "storage.k8s.io", Version: "v1", Kind: "CSINode"}:                                        storage.CSINode{},
	{Group: "storage.k8s.io", Version: "v1", Kind: "CSIStorageCapacity"}:                             storage.CSIStorageCapacity{},
	{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"}:                                   storage.StorageClass{},
	{Group: "storage.k8s.io", Version: "v1", Kind: "VolumeAttachment"}:                               storage.VolumeAttachment{},
	{Group: "storage.k8s.io", Version: "v1", Kind: "VolumeAttributesClass"}:                          storage.VolumeAttributesClass{},
}
