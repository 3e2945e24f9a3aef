package clients

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
)

// TestRecorder checks that three equal events become one core/v1 Event with a count.
func TestRecorder(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c kubernetes.Interface, ns string) {
		pod := must1(c.CoreV1().Pods(ns).Create(t.Context(), &corev1.Pod{ObjectMeta: named("a"), Spec: podSpec}, metav1.CreateOptions{}))(t)
		broadcaster := record.NewBroadcaster()
		defer broadcaster.Shutdown()
		broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: c.CoreV1().Events("")})
		recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "test", Host: "here"})
		for range 3 {
			recorder.Eventf(pod, corev1.EventTypeWarning, "Failed", "could not start %s", "main")
		}
		var found *corev1.EventList
		eventually(t, "an event counts three", func(ctx context.Context) (done bool, err error) {
			found, err = c.CoreV1().Events(ns).Search(scheme.Scheme, pod)
			return err == nil && len(found.Items) == 1 && found.Items[0].Count == 3, err
		}, func() string { return show(found) })
		other := must1(c.EventsV1().Events(ns).Get(t.Context(), found.Items[0].Name, metav1.GetOptions{}))(t)
		if other.DeprecatedCount != 3 || other.Note != "could not start main" || other.Regarding.UID != pod.UID {
			t.Errorf("in events.k8s.io/v1: %s", show(other))
		}
	})
}

// TestSeries checks that three equal events become one events.k8s.io/v1 Event with a series.
func TestSeries(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c kubernetes.Interface, ns string) {
		pod := must1(c.CoreV1().Pods(ns).Create(t.Context(), &corev1.Pod{ObjectMeta: named("a"), Spec: podSpec}, metav1.CreateOptions{}))(t)
		broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: c.EventsV1()})
		defer broadcaster.Shutdown()
		mustClientGo(t, broadcaster.StartRecordingToSinkWithContext(t.Context()))
		recorder := broadcaster.NewRecorder(scheme.Scheme, "example.com/test")
		var found *eventsv1.EventList
		// Wait for each event before recording the next, because client-go sends events
		// independently.
		for i := range 3 {
			recorder.Eventf(pod, nil, corev1.EventTypeNormal, "Started", "Starting", "started %s", "main")
			eventually(t, "an event has a series", func(ctx context.Context) (done bool, err error) {
				found, err = c.EventsV1().Events(ns).List(ctx, metav1.ListOptions{})
				return err == nil && len(found.Items) == 1 && (i == 0 || found.Items[0].Series != nil), err
			}, func() string { return show(found) })
		}
		other := must1(c.CoreV1().Events(ns).Get(t.Context(), found.Items[0].Name, metav1.GetOptions{}))(t)
		if other.Series == nil || other.Message != "started main" || other.ReportingController != "example.com/test" || other.InvolvedObject.Name != "a" {
			t.Errorf("in core/v1: %s", show(other))
		}
	})
}
