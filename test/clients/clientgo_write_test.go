package clients

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/retry"
)

// each runs test in JSON and Protobuf, with a new namespace for each.
func each(t *testing.T, test func(t *testing.T, c kubernetes.Interface, ns string)) {
	t.Helper()
	for encoding, media := range encodings {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			test(t, clientGoServer(t).Typed(t, media), clientGoServer(t).Namespace(t))
		})
	}
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

// TestConflicts checks that no increment of a counter is lost when concurrent writers retry
// conflicts.
func TestConflicts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c kubernetes.Interface, ns string) {
		const writers, times = 4, 5
		maps := c.CoreV1().ConfigMaps(ns)
		must1(maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: named("count")}, metav1.CreateOptions{}))(t)
		backoff := retry.DefaultBackoff
		backoff.Steps = 100
		var running sync.WaitGroup
		for range writers {
			running.Go(func() {
				for range times {
					err := retry.RetryOnConflict(backoff, func() error {
						o, err := maps.Get(t.Context(), "count", metav1.GetOptions{})
						if err != nil {
							return err
						}
						o.Data = map[string]string{"n": o.Data["n"] + "x"}
						_, err = maps.Update(t.Context(), o, metav1.UpdateOptions{})
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		running.Wait()
		if o := must1(maps.Get(t.Context(), "count", metav1.GetOptions{}))(t); len(o.Data["n"]) != writers*times {
			t.Errorf("counted %d, want %d", len(o.Data["n"]), writers*times)
		}
	})
}

// TestStatus checks that UpdateStatus changes only the status, and that Update does not change it.
func TestStatus(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c kubernetes.Interface, ns string) {
		deployments := c.AppsV1().Deployments(ns)
		o := &appsv1.Deployment{ObjectMeta: named("a"), Spec: appsv1.DeploymentSpec{Selector: selector, Template: template}}
		o = must1(deployments.Create(t.Context(), o, metav1.CreateOptions{}))(t)
		o.Status.ReadyReplicas, o.Status.Replicas, o.Spec.Replicas = 1, 1, new(int32)
		o = must1(deployments.UpdateStatus(t.Context(), o, metav1.UpdateOptions{}))(t)
		if o.Status.ReadyReplicas != 1 || *o.Spec.Replicas != 1 || o.Generation != 1 {
			t.Errorf("after an update of the status: %s", show(o))
		}
		o.Status.ReadyReplicas, o.Spec.Replicas = 0, new(int32)
		o = must1(deployments.Update(t.Context(), o, metav1.UpdateOptions{}))(t)
		if o.Status.ReadyReplicas != 1 || *o.Spec.Replicas != 0 || o.Generation != 2 {
			t.Errorf("after an update of the rest: %s", show(o))
		}
		patch := []byte(`{"status":{"conditions":[{"type":"Available","status":"True","lastUpdateTime":null,"lastTransitionTime":null}]}}`)
		o = must1(deployments.Patch(t.Context(), "a", types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status"))(t)
		if len(o.Status.Conditions) != 1 || o.Status.ReadyReplicas != 1 {
			t.Errorf("after a patch of the status: %s", show(o))
		}
	})
}

// TestScale checks that the typed client and the scale client can scale a Deployment.
func TestScale(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c kubernetes.Interface, ns string) {
		deployments := c.AppsV1().Deployments(ns)
		o := &appsv1.Deployment{ObjectMeta: named("a"), Spec: appsv1.DeploymentSpec{Selector: selector, Template: template}}
		must1(deployments.Create(t.Context(), o, metav1.CreateOptions{}))(t)
		s := must1(deployments.GetScale(t.Context(), "a", metav1.GetOptions{}))(t)
		if s.Spec.Replicas != 1 || s.Status.Selector != "app=a" || s.Name != "a" || s.UID == "" {
			t.Errorf("%s", show(s))
		}
		s.Spec.Replicas = 3
		s = must1(deployments.UpdateScale(t.Context(), "a", s, metav1.UpdateOptions{}))(t)
		if s.Spec.Replicas != 3 {
			t.Errorf("%s", show(s))
		}
		old := s.DeepCopy()
		old.ResourceVersion = "1"
		if _, err := deployments.UpdateScale(t.Context(), "a", old, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			t.Errorf("an update of an old scale: %v", err)
		}
		anyScale(t, ns)
		if o := must1(deployments.Get(t.Context(), "a", metav1.GetOptions{}))(t); *o.Spec.Replicas != 5 || o.Generation != 4 {
			t.Errorf("after three scalings: %s", show(o))
		}
	})
}

func anyScale(t *testing.T, ns string) {
	t.Helper()
	discovery := clientGoServer(t).Typed(t, asJSON).Discovery()
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discovery))
	client := must1(scale.NewForConfig(clientGoServer(t).Config(t, asJSON), mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(discovery)))(t)
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	s := must1(client.Scales(ns).Get(t.Context(), deployments, "a", metav1.GetOptions{}))(t)
	s.Spec.Replicas = 4
	must1(client.Scales(ns).Update(t.Context(), deployments, s, metav1.UpdateOptions{}))(t)
	patch := []byte(`{"spec":{"replicas":5}}`)
	s = must1(client.Scales(ns).Patch(t.Context(), deployments.WithVersion("v1"), "a", types.MergePatchType, patch, metav1.PatchOptions{}))(t)
	if s.Spec.Replicas != 5 {
		t.Errorf("%s", show(s))
	}
}

// TestEvict checks that evictions are rejected once the disruption budget is exhausted.
func TestEvict(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c kubernetes.Interface, ns string) {
		pods, budgets := c.CoreV1().Pods(ns), c.PolicyV1().PodDisruptionBudgets(ns)
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: named("a"), Spec: policyv1.PodDisruptionBudgetSpec{Selector: selector}}
		budget = must1(budgets.Create(t.Context(), budget, metav1.CreateOptions{}))(t)
		budget.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 1, CurrentHealthy: 2, DesiredHealthy: 1, ExpectedPods: 2}
		must1(budgets.UpdateStatus(t.Context(), budget, metav1.UpdateOptions{}))(t)
		for _, name := range []string{"one", "two"} {
			o := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: selector.MatchLabels}, Spec: podSpec}
			o = must1(pods.Create(t.Context(), o, metav1.CreateOptions{}))(t)
			o.Status.Phase = corev1.PodRunning
			o.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			must1(pods.UpdateStatus(t.Context(), o, metav1.UpdateOptions{}))(t)
		}
		gone := &metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
		mustClientGo(t, pods.EvictV1(t.Context(), &policyv1.Eviction{ObjectMeta: named("one"), DeleteOptions: gone}))
		if err := pods.EvictV1(t.Context(), &policyv1.Eviction{ObjectMeta: named("two"), DeleteOptions: gone}); !apierrors.IsTooManyRequests(err) ||
			!apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause) {
			t.Errorf("eviction beyond the budget: %v", err)
		}
		if list := must1(pods.List(t.Context(), metav1.ListOptions{}))(t); len(list.Items) != 1 || list.Items[0].Name != "two" {
			t.Errorf("left: %s", show(list))
		}
	})
}

// TestDeleteCollection checks that only the selected objects are deleted, and none in a dry run.
func TestDeleteCollection(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c kubernetes.Interface, ns string) {
		maps := c.CoreV1().ConfigMaps(ns)
		for i := range 10 {
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-", Labels: map[string]string{"odd": fmt.Sprint(i % 2)}}}
			must1(maps.Create(t.Context(), o, metav1.CreateOptions{}))(t)
		}
		odd := metav1.ListOptions{LabelSelector: "odd=1"}
		mustClientGo(t, maps.DeleteCollection(t.Context(), metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}, odd))
		if list := must1(maps.List(t.Context(), odd))(t); len(list.Items) != 5 {
			t.Errorf("a dry run leaves %d", len(list.Items))
		}
		mustClientGo(t, maps.DeleteCollection(t.Context(), metav1.DeleteOptions{}, odd))
		if list := must1(maps.List(t.Context(), metav1.ListOptions{}))(t); len(list.Items) != 5 {
			t.Errorf("%d are left", len(list.Items))
		}
	})
}

func TestReviews(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c kubernetes.Interface, ns string) {
		self := must1(c.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{}))(t)
		if self.Status.UserInfo.Username == "" {
			t.Errorf("%s", show(self))
		}
		ask := authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: ns, Verb: "list", Resource: "pods"}}
		may := must1(c.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{Spec: ask}, metav1.CreateOptions{}))(t)
		if !may.Status.Allowed {
			t.Errorf("%s", show(may))
		}
	})
}

func TestSubresources(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c kubernetes.Interface, ns string) {
		pods := c.CoreV1().Pods(ns)
		o := must1(pods.Create(t.Context(), &corev1.Pod{ObjectMeta: named("a"), Spec: podSpec}, metav1.CreateOptions{}))(t)
		mustClientGo(t, pods.Bind(t.Context(), &corev1.Binding{ObjectMeta: named("a"), Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}, metav1.CreateOptions{}))
		o = must1(pods.Get(t.Context(), "a", metav1.GetOptions{}))(t)
		if o.Spec.NodeName != "n" {
			t.Errorf("not bound: %s", show(o))
		}
		o.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "e", Image: "i", TerminationMessagePolicy: corev1.TerminationMessageReadFile}}}
		o = must1(pods.UpdateEphemeralContainers(t.Context(), "a", o, metav1.UpdateOptions{}))(t)
		if len(o.Spec.EphemeralContainers) != 1 {
			t.Errorf("no ephemeral container: %s", show(o))
		}
		spaces := c.CoreV1().Namespaces()
		space := must1(spaces.Get(t.Context(), ns, metav1.GetOptions{}))(t)
		space.Spec.Finalizers = append(space.Spec.Finalizers, "example.com/hold")
		if space = must1(spaces.Finalize(t.Context(), space, metav1.UpdateOptions{}))(t); len(space.Spec.Finalizers) != 2 {
			t.Errorf("not finalized: %s", show(space))
		}
	})
}

// TestNotFound checks that client-go's error predicates match the server's errors.
func TestNotFound(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c kubernetes.Interface, ns string) {
		maps := c.CoreV1().ConfigMaps(ns)
		o := &corev1.ConfigMap{ObjectMeta: named("a")}
		must1(maps.Create(t.Context(), o, metav1.CreateOptions{}))(t)
		for label, fault := range map[string]struct {
			is  func(error) bool
			err error
		}{
			"create twice":          {apierrors.IsAlreadyExists, second(maps.Create(t.Context(), o, metav1.CreateOptions{}))},
			"get nothing":           {apierrors.IsNotFound, second(maps.Get(t.Context(), "b", metav1.GetOptions{}))},
			"bad name":              {apierrors.IsInvalid, second(maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: named("A")}, metav1.CreateOptions{}))},
			"bad selector":          {apierrors.IsBadRequest, second(maps.List(t.Context(), metav1.ListOptions{LabelSelector: "a==="}))},
			"too old a token":       {apierrors.IsBadRequest, second(maps.List(t.Context(), metav1.ListOptions{Limit: 1, Continue: "nonsense"}))},
			"no such namespace":     {apierrors.IsNotFound, second(c.CoreV1().ConfigMaps(ns+"-no").Create(t.Context(), o, metav1.CreateOptions{}))},
			"another namespace":     {apierrors.IsBadRequest, second(maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "other"}}, metav1.CreateOptions{}))},
			"scale by another name": {apierrors.IsBadRequest, second(c.AppsV1().Deployments(ns).UpdateScale(t.Context(), "b", &autoscalingv1.Scale{ObjectMeta: named("c")}, metav1.UpdateOptions{}))},
			"no request to sign":    {apierrors.IsInvalid, second(c.CertificatesV1().CertificateSigningRequests().Create(t.Context(), &certificatesv1.CertificateSigningRequest{ObjectMeta: named("c")}, metav1.CreateOptions{}))},
		} {
			if !fault.is(fault.err) {
				t.Errorf("%s: %v", label, fault.err)
			}
			if fault.err != nil && strings.Contains(fault.err.Error(), "unknown") {
				t.Errorf("%s: %v", label, fault.err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }
