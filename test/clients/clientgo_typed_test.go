package clients

import (
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

var (
	selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
	podSpec  = corev1.PodSpec{Containers: []corev1.Container{{
		Name: "main", Image: "example.com/main:1",
		Ports:     []corev1.ContainerPort{{ContainerPort: 80}},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m")}},
	}}}
	template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: selector.MatchLabels}, Spec: podSpec}
	oneGi    = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes    = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	half     = intstr.FromString("50%")
	readPods = []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}
	anyRole  = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "a"}
	someone  = []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "u"}}
)

func once() corev1.PodTemplateSpec {
	p := *template.DeepCopy()
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	return p
}

// rows contains one entry per resource, from all built-in API groups.
var rows = []kind{
	of(func(c kubernetes.Interface, ns string) resources[*corev1.ConfigMap, *corev1.ConfigMapList] {
		return c.CoreV1().ConfigMaps(ns)
	},
		&corev1.ConfigMap{Data: map[string]string{"a": "b"}, BinaryData: map[string][]byte{"c": {0, 255}}},
		func(o *corev1.ConfigMap) { o.Data["a"] = "c" }),
	of(func(c kubernetes.Interface, ns string) resources[*corev1.Secret, *corev1.SecretList] {
		return c.CoreV1().Secrets(ns)
	},
		&corev1.Secret{Data: map[string][]byte{"a": {1, 2}}},
		func(o *corev1.Secret) { o.Data["b"] = []byte("c") }),
	of(func(c kubernetes.Interface, ns string) resources[*corev1.Pod, *corev1.PodList] {
		return c.CoreV1().Pods(ns)
	},
		&corev1.Pod{Spec: podSpec},
		func(o *corev1.Pod) { o.Spec.Containers[0].Image = "example.com/main:2" }),
	of(func(c kubernetes.Interface, ns string) resources[*corev1.Service, *corev1.ServiceList] {
		return c.CoreV1().Services(ns)
	},
		&corev1.Service{Spec: corev1.ServiceSpec{Selector: selector.MatchLabels, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromString("http")}}}},
		func(o *corev1.Service) { o.Spec.Ports[0].TargetPort = intstr.FromInt32(8080) }),
	of(func(c kubernetes.Interface, ns string) resources[*corev1.ServiceAccount, *corev1.ServiceAccountList] {
		return c.CoreV1().ServiceAccounts(ns)
	},
		&corev1.ServiceAccount{Secrets: []corev1.ObjectReference{{Name: "s"}}},
		func(o *corev1.ServiceAccount) { o.AutomountServiceAccountToken = new(bool) }),
	of(func(c kubernetes.Interface, ns string) resources[*corev1.Endpoints, *corev1.EndpointsList] {
		return c.CoreV1().Endpoints(ns)
	},
		&corev1.Endpoints{Subsets: []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: "192.0.2.1"}}, Ports: []corev1.EndpointPort{{Port: 80}}}}},
		func(o *corev1.Endpoints) { o.Subsets[0].Ports[0].Port = 81 }),
	of(func(c kubernetes.Interface, ns string) resources[*corev1.ReplicationController, *corev1.ReplicationControllerList] {
		return c.CoreV1().ReplicationControllers(ns)
	},
		&corev1.ReplicationController{Spec: corev1.ReplicationControllerSpec{Selector: selector.MatchLabels, Template: &template}},
		func(o *corev1.ReplicationController) { o.Spec.MinReadySeconds = 3 }),
	of(func(c kubernetes.Interface, ns string) resources[*corev1.PersistentVolumeClaim, *corev1.PersistentVolumeClaimList] {
		return c.CoreV1().PersistentVolumeClaims(ns)
	},
		&corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{AccessModes: modes, Resources: corev1.VolumeResourceRequirements{Requests: oneGi}}},
		func(o *corev1.PersistentVolumeClaim) { o.Annotations = map[string]string{"x": "y"} }),
	of(func(c kubernetes.Interface, ns string) resources[*corev1.PersistentVolume, *corev1.PersistentVolumeList] {
		return c.CoreV1().PersistentVolumes()
	},
		&corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{AccessModes: modes, Capacity: oneGi, PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/tmp"}}}},
		func(o *corev1.PersistentVolume) {
			o.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
		}),
	of(func(c kubernetes.Interface, ns string) resources[*corev1.Node, *corev1.NodeList] {
		return c.CoreV1().Nodes()
	},
		&corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}}},
		func(o *corev1.Node) { o.Spec.Unschedulable = true }),
	of(func(c kubernetes.Interface, ns string) resources[*corev1.ResourceQuota, *corev1.ResourceQuotaList] {
		return c.CoreV1().ResourceQuotas(ns)
	},
		&corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/widgets.example.com": resource.MustParse("3")}}},
		func(o *corev1.ResourceQuota) { o.Spec.Hard["count/widgets.example.com"] = resource.MustParse("4") }),
	of(func(c kubernetes.Interface, ns string) resources[*corev1.LimitRange, *corev1.LimitRangeList] {
		return c.CoreV1().LimitRanges(ns)
	},
		&corev1.LimitRange{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{"memory": resource.MustParse("1Gi")}}}}},
		func(o *corev1.LimitRange) { o.Spec.Limits[0].Max["memory"] = resource.MustParse("2Gi") }),
	of(func(c kubernetes.Interface, ns string) resources[*corev1.PodTemplate, *corev1.PodTemplateList] {
		return c.CoreV1().PodTemplates(ns)
	},
		&corev1.PodTemplate{Template: template},
		func(o *corev1.PodTemplate) { o.Template.Labels = map[string]string{"x": "y"} }),
	of(func(c kubernetes.Interface, ns string) resources[*appsv1.Deployment, *appsv1.DeploymentList] {
		return c.AppsV1().Deployments(ns)
	},
		&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Selector: selector, Template: template}},
		func(o *appsv1.Deployment) { o.Spec.Replicas = new(int32) }),
	of(func(c kubernetes.Interface, ns string) resources[*appsv1.ReplicaSet, *appsv1.ReplicaSetList] {
		return c.AppsV1().ReplicaSets(ns)
	},
		&appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: template}},
		func(o *appsv1.ReplicaSet) { o.Spec.Replicas = new(int32) }),
	of(func(c kubernetes.Interface, ns string) resources[*appsv1.StatefulSet, *appsv1.StatefulSetList] {
		return c.AppsV1().StatefulSets(ns)
	},
		&appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Selector: selector, Template: template, ServiceName: "a"}},
		func(o *appsv1.StatefulSet) { o.Spec.Replicas = new(int32) }),
	of(func(c kubernetes.Interface, ns string) resources[*appsv1.DaemonSet, *appsv1.DaemonSetList] {
		return c.AppsV1().DaemonSets(ns)
	},
		&appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template}},
		func(o *appsv1.DaemonSet) { o.Spec.MinReadySeconds = 5 }),
	of(func(c kubernetes.Interface, ns string) resources[*appsv1.ControllerRevision, *appsv1.ControllerRevisionList] {
		return c.AppsV1().ControllerRevisions(ns)
	},
		&appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: []byte(`{"a":1}`)}, Revision: 1},
		func(o *appsv1.ControllerRevision) { o.Annotations = map[string]string{"x": "y"} }),
	of(func(c kubernetes.Interface, ns string) resources[*batchv1.Job, *batchv1.JobList] {
		return c.BatchV1().Jobs(ns)
	},
		&batchv1.Job{Spec: batchv1.JobSpec{Template: once()}},
		func(o *batchv1.Job) { o.Spec.Parallelism = new(int32) }),
	of(func(c kubernetes.Interface, ns string) resources[*batchv1.CronJob, *batchv1.CronJobList] {
		return c.BatchV1().CronJobs(ns)
	},
		&batchv1.CronJob{Spec: batchv1.CronJobSpec{Schedule: "0 * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: once()}}}},
		func(o *batchv1.CronJob) { o.Spec.Schedule = "1 * * * *" }),
	of(func(c kubernetes.Interface, ns string) resources[*networkingv1.Ingress, *networkingv1.IngressList] {
		return c.NetworkingV1().Ingresses(ns)
	},
		&networkingv1.Ingress{Spec: networkingv1.IngressSpec{DefaultBackend: &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "a", Port: networkingv1.ServiceBackendPort{Number: 80}}}}},
		func(o *networkingv1.Ingress) { o.Spec.DefaultBackend.Service.Port.Number = 81 }),
	of(func(c kubernetes.Interface, ns string) resources[*networkingv1.NetworkPolicy, *networkingv1.NetworkPolicyList] {
		return c.NetworkingV1().NetworkPolicies(ns)
	},
		&networkingv1.NetworkPolicy{Spec: networkingv1.NetworkPolicySpec{PodSelector: *selector, Ingress: []networkingv1.NetworkPolicyIngressRule{{}}}},
		func(o *networkingv1.NetworkPolicy) { o.Spec.Ingress = nil }),
	of(func(c kubernetes.Interface, ns string) resources[*networkingv1.IngressClass, *networkingv1.IngressClassList] {
		return c.NetworkingV1().IngressClasses()
	},
		&networkingv1.IngressClass{Spec: networkingv1.IngressClassSpec{Controller: "example.com/a"}},
		func(o *networkingv1.IngressClass) { o.Annotations = map[string]string{"x": "y"} }),
	of(func(c kubernetes.Interface, ns string) resources[*discoveryv1.EndpointSlice, *discoveryv1.EndpointSliceList] {
		return c.DiscoveryV1().EndpointSlices(ns)
	},
		&discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"192.0.2.1"}}}},
		func(o *discoveryv1.EndpointSlice) { o.Endpoints[0].Addresses[0] = "192.0.2.2" }),
	of(func(c kubernetes.Interface, ns string) resources[*coordinationv1.Lease, *coordinationv1.LeaseList] {
		return c.CoordinationV1().Leases(ns)
	},
		&coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: new(string), RenewTime: &metav1.MicroTime{Time: time.Unix(1700000000, 123456000)}}},
		func(o *coordinationv1.Lease) { o.Spec.RenewTime.Time = time.Unix(1700000001, 1000) }),
	of(func(c kubernetes.Interface, ns string) resources[*policyv1.PodDisruptionBudget, *policyv1.PodDisruptionBudgetList] {
		return c.PolicyV1().PodDisruptionBudgets(ns)
	},
		&policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{Selector: selector, MinAvailable: &half}},
		func(o *policyv1.PodDisruptionBudget) { o.Spec.MinAvailable.StrVal = "60%" }),
	of(func(c kubernetes.Interface, ns string) resources[*autoscalingv1.HorizontalPodAutoscaler, *autoscalingv1.HorizontalPodAutoscalerList] {
		return c.AutoscalingV1().HorizontalPodAutoscalers(ns)
	},
		&autoscalingv1.HorizontalPodAutoscaler{Spec: autoscalingv1.HorizontalPodAutoscalerSpec{ScaleTargetRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "a"}, MaxReplicas: 3}},
		func(o *autoscalingv1.HorizontalPodAutoscaler) { o.Spec.MaxReplicas = 4 }),
	of(func(c kubernetes.Interface, ns string) resources[*autoscalingv2.HorizontalPodAutoscaler, *autoscalingv2.HorizontalPodAutoscalerList] {
		return c.AutoscalingV2().HorizontalPodAutoscalers(ns)
	},
		&autoscalingv2.HorizontalPodAutoscaler{Spec: autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "a"}, MaxReplicas: 3}},
		func(o *autoscalingv2.HorizontalPodAutoscaler) { o.Spec.MaxReplicas = 4 }),
	of(func(c kubernetes.Interface, ns string) resources[*rbacv1.Role, *rbacv1.RoleList] {
		return c.RbacV1().Roles(ns)
	},
		&rbacv1.Role{Rules: readPods},
		func(o *rbacv1.Role) { o.Rules[0].Verbs = []string{"get", "list"} }),
	of(func(c kubernetes.Interface, ns string) resources[*rbacv1.ClusterRole, *rbacv1.ClusterRoleList] {
		return c.RbacV1().ClusterRoles()
	},
		&rbacv1.ClusterRole{Rules: readPods},
		func(o *rbacv1.ClusterRole) { o.Rules[0].Verbs = []string{"get", "list"} }),
	of(func(c kubernetes.Interface, ns string) resources[*rbacv1.RoleBinding, *rbacv1.RoleBindingList] {
		return c.RbacV1().RoleBindings(ns)
	},
		&rbacv1.RoleBinding{RoleRef: anyRole, Subjects: someone},
		func(o *rbacv1.RoleBinding) { o.Subjects = nil }),
	of(func(c kubernetes.Interface, ns string) resources[*rbacv1.ClusterRoleBinding, *rbacv1.ClusterRoleBindingList] {
		return c.RbacV1().ClusterRoleBindings()
	},
		&rbacv1.ClusterRoleBinding{RoleRef: anyRole, Subjects: someone},
		func(o *rbacv1.ClusterRoleBinding) { o.Subjects = nil }),
	of(func(c kubernetes.Interface, ns string) resources[*schedulingv1.PriorityClass, *schedulingv1.PriorityClassList] {
		return c.SchedulingV1().PriorityClasses()
	},
		&schedulingv1.PriorityClass{Value: 10},
		func(o *schedulingv1.PriorityClass) { o.Description = "d" }),
	of(func(c kubernetes.Interface, ns string) resources[*nodev1.RuntimeClass, *nodev1.RuntimeClassList] {
		return c.NodeV1().RuntimeClasses()
	},
		&nodev1.RuntimeClass{Handler: "h"},
		func(o *nodev1.RuntimeClass) { o.Annotations = map[string]string{"x": "y"} }),
	of(func(c kubernetes.Interface, ns string) resources[*storagev1.StorageClass, *storagev1.StorageClassList] {
		return c.StorageV1().StorageClasses()
	},
		&storagev1.StorageClass{Provisioner: "example.com/p"},
		func(o *storagev1.StorageClass) { o.AllowVolumeExpansion = new(bool) }),
	of(func(c kubernetes.Interface, ns string) resources[*storagev1.CSIDriver, *storagev1.CSIDriverList] {
		return c.StorageV1().CSIDrivers()
	},
		&storagev1.CSIDriver{},
		func(o *storagev1.CSIDriver) { o.Spec.RequiresRepublish = new(bool); *o.Spec.RequiresRepublish = true }),
	of(func(c kubernetes.Interface, ns string) resources[*admissionregistrationv1.ValidatingWebhookConfiguration, *admissionregistrationv1.ValidatingWebhookConfigurationList] {
		return c.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	},
		&admissionregistrationv1.ValidatingWebhookConfiguration{},
		func(o *admissionregistrationv1.ValidatingWebhookConfiguration) {
			o.Annotations = map[string]string{"x": "y"}
		}),
}

func TestTyped(t *testing.T) {
	for _, r := range rows {
		for encoding, media := range encodings {
			t.Run(strings.ReplaceAll(r.name(), ".", "/")+"/"+encoding, func(t *testing.T) {
				t.Parallel()
				r.lifecycle(t, clientGoServer(t).Namespace(t), media)
			})
		}
	}
}
