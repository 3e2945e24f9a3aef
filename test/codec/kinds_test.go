package codec

import (
	adm "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	authn "k8s.io/api/authentication/v1"
	authz "k8s.io/api/authorization/v1"
	scaling1 "k8s.io/api/autoscaling/v1"
	scaling2 "k8s.io/api/autoscaling/v2"
	scaling2beta2 "k8s.io/api/autoscaling/v2beta2"
	batch "k8s.io/api/batch/v1"
	certificates "k8s.io/api/certificates/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	events "k8s.io/api/events/v1"
	networking "k8s.io/api/networking/v1"
	node "k8s.io/api/node/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	devices "k8s.io/api/resource/v1"
	scheduling "k8s.io/api/scheduling/v1"
	storage "k8s.io/api/storage/v1"

	"github.com/troupe-api/troupe/kinds/meta"
)

// newObjects makes an empty object of every kind whose Go type this module requires.
func newObjects() map[meta.GroupVersionKind]func() object {
	return map[meta.GroupVersionKind]func() object{
		{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"}:     func() object { return &adm.MutatingWebhookConfiguration{} },
		{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicy"}:        func() object { return &adm.ValidatingAdmissionPolicy{} },
		{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicyBinding"}: func() object { return &adm.ValidatingAdmissionPolicyBinding{} },
		{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"}:   func() object { return &adm.ValidatingWebhookConfiguration{} },
		{Group: "apps", Version: "v1", Kind: "ControllerRevision"}:                                       func() object { return &apps.ControllerRevision{} },
		{Group: "apps", Version: "v1", Kind: "DaemonSet"}:                                                func() object { return &apps.DaemonSet{} },
		{Group: "apps", Version: "v1", Kind: "Deployment"}:                                               func() object { return &apps.Deployment{} },
		{Group: "apps", Version: "v1", Kind: "ReplicaSet"}:                                               func() object { return &apps.ReplicaSet{} },
		{Group: "apps", Version: "v1", Kind: "StatefulSet"}:                                              func() object { return &apps.StatefulSet{} },
		{Group: "authentication.k8s.io", Version: "v1", Kind: "SelfSubjectReview"}:                       func() object { return &authn.SelfSubjectReview{} },
		{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"}:                            func() object { return &authn.TokenRequest{} },
		{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenReview"}:                             func() object { return &authn.TokenReview{} },
		{Group: "authorization.k8s.io", Version: "v1", Kind: "LocalSubjectAccessReview"}:                 func() object { return &authz.LocalSubjectAccessReview{} },
		{Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectAccessReview"}:                  func() object { return &authz.SelfSubjectAccessReview{} },
		{Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectRulesReview"}:                   func() object { return &authz.SelfSubjectRulesReview{} },
		{Group: "authorization.k8s.io", Version: "v1", Kind: "SubjectAccessReview"}:                      func() object { return &authz.SubjectAccessReview{} },
		{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler"}:                           func() object { return &scaling1.HorizontalPodAutoscaler{} },
		{Group: "autoscaling", Version: "v1", Kind: "Scale"}:                                             func() object { return &scaling1.Scale{} },
		{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}:                           func() object { return &scaling2.HorizontalPodAutoscaler{} },
		{Group: "autoscaling", Version: "v2beta2", Kind: "HorizontalPodAutoscaler"}:                      func() object { return &scaling2beta2.HorizontalPodAutoscaler{} },
		{Group: "batch", Version: "v1", Kind: "CronJob"}:                                                 func() object { return &batch.CronJob{} },
		{Group: "batch", Version: "v1", Kind: "Job"}:                                                     func() object { return &batch.Job{} },
		{Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest"}:                 func() object { return &certificates.CertificateSigningRequest{} },
		{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}:                                     func() object { return &coordination.Lease{} },
		{Version: "v1", Kind: "Binding"}:                                                                 func() object { return &core.Binding{} },
		{Version: "v1", Kind: "ConfigMap"}:                                                               func() object { return &core.ConfigMap{} },
		{Version: "v1", Kind: "Endpoints"}:                                                               func() object { return &core.Endpoints{} },
		{Version: "v1", Kind: "Event"}:                                                                   func() object { return &core.Event{} },
		{Version: "v1", Kind: "LimitRange"}:                                                              func() object { return &core.LimitRange{} },
		{Version: "v1", Kind: "Namespace"}:                                                               func() object { return &core.Namespace{} },
		{Version: "v1", Kind: "Node"}:                                                                    func() object { return &core.Node{} },
		{Version: "v1", Kind: "PersistentVolume"}:                                                        func() object { return &core.PersistentVolume{} },
		{Version: "v1", Kind: "PersistentVolumeClaim"}:                                                   func() object { return &core.PersistentVolumeClaim{} },
		{Version: "v1", Kind: "Pod"}:                                                                     func() object { return &core.Pod{} },
		{Version: "v1", Kind: "PodTemplate"}:                                                             func() object { return &core.PodTemplate{} },
		{Version: "v1", Kind: "ReplicationController"}:                                                   func() object { return &core.ReplicationController{} },
		{Version: "v1", Kind: "ResourceQuota"}:                                                           func() object { return &core.ResourceQuota{} },
		{Version: "v1", Kind: "Secret"}:                                                                  func() object { return &core.Secret{} },
		{Version: "v1", Kind: "Service"}:                                                                 func() object { return &core.Service{} },
		{Version: "v1", Kind: "ServiceAccount"}:                                                          func() object { return &core.ServiceAccount{} },
		{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice"}:                                func() object { return &discovery.EndpointSlice{} },
		{Group: "events.k8s.io", Version: "v1", Kind: "Event"}:                                           func() object { return &events.Event{} },
		{Group: "networking.k8s.io", Version: "v1", Kind: "IPAddress"}:                                   func() object { return &networking.IPAddress{} },
		{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"}:                                     func() object { return &networking.Ingress{} },
		{Group: "networking.k8s.io", Version: "v1", Kind: "IngressClass"}:                                func() object { return &networking.IngressClass{} },
		{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}:                               func() object { return &networking.NetworkPolicy{} },
		{Group: "networking.k8s.io", Version: "v1", Kind: "ServiceCIDR"}:                                 func() object { return &networking.ServiceCIDR{} },
		{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass"}:                                      func() object { return &node.RuntimeClass{} },
		{Group: "policy", Version: "v1", Kind: "Eviction"}:                                               func() object { return &policy.Eviction{} },
		{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"}:                                    func() object { return &policy.PodDisruptionBudget{} },
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}:                         func() object { return &rbac.ClusterRole{} },
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding"}:                  func() object { return &rbac.ClusterRoleBinding{} },
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}:                                func() object { return &rbac.Role{} },
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"}:                         func() object { return &rbac.RoleBinding{} },
		{Group: "resource.k8s.io", Version: "v1", Kind: "DeviceClass"}:                                   func() object { return &devices.DeviceClass{} },
		{Group: "resource.k8s.io", Version: "v1", Kind: "ResourceClaim"}:                                 func() object { return &devices.ResourceClaim{} },
		{Group: "resource.k8s.io", Version: "v1", Kind: "ResourceClaimTemplate"}:                         func() object { return &devices.ResourceClaimTemplate{} },
		{Group: "resource.k8s.io", Version: "v1", Kind: "ResourceSlice"}:                                 func() object { return &devices.ResourceSlice{} },
		{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}:                               func() object { return &scheduling.PriorityClass{} },
		{Group: "storage.k8s.io", Version: "v1", Kind: "CSIDriver"}:                                      func() object { return &storage.CSIDriver{} },
		{Group: "storage.k8s.io", Version: "v1", Kind: "CSINode"}:                                        func() object { return &storage.CSINode{} },
		{Group: "storage.k8s.io", Version: "v1", Kind: "CSIStorageCapacity"}:                             func() object { return &storage.CSIStorageCapacity{} },
		{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"}:                                   func() object { return &storage.StorageClass{} },
		{Group: "storage.k8s.io", Version: "v1", Kind: "VolumeAttachment"}:                               func() object { return &storage.VolumeAttachment{} },
		{Group: "storage.k8s.io", Version: "v1", Kind: "VolumeAttributesClass"}:                          func() object { return &storage.VolumeAttributesClass{} },
	}
}
