package clients

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applyapps "k8s.io/client-go/applyconfigurations/apps/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func applied(ns string, replicas int32, containers ...*applycore.ContainerApplyConfiguration) *applyapps.DeploymentApplyConfiguration {
	return applyapps.Deployment("a", ns).WithLabels(map[string]string{"tier": "web"}).WithSpec(applyapps.DeploymentSpec().
		WithReplicas(replicas).
		WithSelector(applymeta.LabelSelector().WithMatchLabels(selector.MatchLabels)).
		WithTemplate(applycore.PodTemplateSpec().WithLabels(selector.MatchLabels).WithSpec(applycore.PodSpec().WithContainers(containers...))))
}

// TestTypedApply checks that apply configurations can be extracted, changed and reapplied, and that
// conflicts are reported.
func TestTypedApply(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c kubernetes.Interface, ns string) {
		one := metav1.ApplyOptions{FieldManager: "one"}
		deployments := c.AppsV1().Deployments(ns)
		main := applycore.Container().WithName("main").WithImage("example.com/main:1").
			WithPorts(applycore.ContainerPort().WithContainerPort(80).WithName("http"))
		log := applycore.Container().WithName("log").WithImage("example.com/log:1")
		o := must1(deployments.Apply(t.Context(), applied(ns, 2, main, log), one))(t)
		if *o.Spec.Replicas != 2 || len(o.Spec.Template.Spec.Containers) != 2 {
			t.Errorf("%s", show(o))
		}
		mine := must1(applyapps.ExtractDeployment(o, "one"))(t)
		if *mine.Spec.Replicas != 2 || len(mine.Spec.Template.Spec.Containers) != 2 || mine.Spec.Strategy != nil {
			t.Errorf("extracted %s", show(mine))
		}
		again := must1(deployments.Apply(t.Context(), mine, one))(t)
		if again.ResourceVersion != o.ResourceVersion {
			t.Error("applying the extracted configuration changed the object")
		}
		two := metav1.ApplyOptions{FieldManager: "two"}
		if _, err := deployments.Apply(t.Context(), applied(ns, 3, main), two); !apierrors.IsConflict(err) {
			t.Errorf("apply by another manager without force: %v", err)
		}
		two.Force = true
		must1(deployments.Apply(t.Context(), applied(ns, 3, main), two))(t)
		mine.Spec.Replicas = nil
		mine.Spec.Template.Spec.Containers = mine.Spec.Template.Spec.Containers[:1]
		o = must1(deployments.Apply(t.Context(), mine, one))(t)
		if *o.Spec.Replicas != 3 || len(o.Spec.Template.Spec.Containers) != 1 {
			t.Errorf("after manager one removed its fields: %s", show(o))
		}
		o = must1(deployments.ApplyStatus(t.Context(), applyapps.Deployment("a", ns).WithStatus(applyapps.DeploymentStatus().WithReplicas(3)), one))(t)
		status := must1(applyapps.ExtractDeploymentStatus(o, "one"))(t)
		if o.Status.Replicas != 3 || status.Status == nil || *status.Status.Replicas != 3 || status.Spec != nil {
			t.Errorf("%s, extracted %s", show(o), show(status))
		}
		if _, err := deployments.Apply(t.Context(), applied(ns, 3, main).WithUID("other"), two); !apierrors.IsInvalid(err) {
			t.Errorf("apply with another UID: %v", err)
		}
		if _, err := deployments.Apply(t.Context(), applied(ns, 3, main).WithName("gone").WithUID("other"), two); !apierrors.IsConflict(err) {
			t.Errorf("apply with the UID of a missing object: %v", err)
		}
	})
}
