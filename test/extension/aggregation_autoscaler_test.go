package extension

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// A metricsServer serves the metrics APIs. used is the CPU usage of every Pod, in millicores, and
// tasks is the value of an external metric.
type metricsServer struct {
	used, tasks atomic.Int64
	pods        []string
}

func (m *metricsServer) handle(w http.ResponseWriter, r *http.Request) bool {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) < 4 {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	at := time.Now().UTC().Format(time.RFC3339)
	var items []string
	switch group := parts[1]; {
	case group == "metrics.platform.io":
		for _, name := range m.pods {
			items = append(items, fmt.Sprintf(`{"metadata":{"name":%q},"timestamp":%q,"window":"30s","containers":[{"name":"c","usage":{"cpu":"%dm","memory":"64Mi"}}]}`, name, at, m.used.Load()))
		}
	case r.URL.Path == "/apis/custom.metrics.platform.io/v1beta1/namespaces/default/services/web/hits":
		items = []string{fmt.Sprintf(`{"describedObject":{"name":"web"},"timestamp":%q,"value":"12"}`, at)}
	case r.URL.Path == "/apis/external.metrics.platform.io/v1beta1/namespaces/default/queue" && r.URL.Query().Get("labelSelector") == "app in (web)":
		items = []string{`{"value":"3500m"}`, `{"value":"4"}`}
	case r.URL.Path == "/apis/external.metrics.platform.io/v1beta1/namespaces/default/tasks":
		items = []string{fmt.Sprintf(`{"value":"%d"}`, m.tasks.Load())}
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind":"Status","status":"Failure","message":"no such metric","reason":"NotFound","code":404}`)
		return true
	}
	fmt.Fprintf(w, `{"kind":"List","items":[%s]}`, strings.Join(items, ","))
	return true
}

type autoscalerState struct {
	Status struct {
		CurrentReplicas, DesiredReplicas, ObservedGeneration int
		LastScaleTime                                        string
		CurrentMetrics                                       []json.RawMessage
		Conditions                                           []struct{ Type, Status, Reason, Message string }
	}
}

func (s aggregationSession) wantAutoscaler(name string, right func(a autoscalerState) bool) {
	s.T.Helper()
	client.Eventually(s.T, func() error {
		var state autoscalerState
		a := s.Send(200, "GET", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/"+name, "", "")
		if err := json.Unmarshal(a.Body, &state); err != nil {
			return err
		}
		if !right(state) {
			return fmt.Errorf("%s says %s", name, a.Body)
		}
		return nil
	})
}

// says reports whether a condition has the given type, status, reason and message prefix.
func (a autoscalerState) says(kind, status, reason, message string) bool {
	for _, c := range a.Status.Conditions {
		if c.Type == kind && c.Status == status && c.Reason == reason && strings.HasPrefix(c.Message, message) {
			return true
		}
	}
	return false
}

func (s aggregationSession) wantEvent(reason, message string) {
	s.T.Helper()
	client.Eventually(s.T, func() error {
		a := s.Send(200, "GET", "/api/v1/namespaces/default/events", "", "")
		if !strings.Contains(string(a.Body), `"reason":"`+reason+`","message":"`+message) {
			return fmt.Errorf("no %s %s in %s", reason, message, a.Body)
		}
		return nil
	})
}

// scaled creates a ReplicaSet and a HorizontalPodAutoscaler for it. No kubelet is needed, because
// the Pods are created as running.
func (s aggregationSession) scaled(name string, replicas int, metrics string) {
	s.T.Helper()
	s.Send(201, "POST", "/apis/apps/v1/namespaces/default/replicasets", client.JSON, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"replicas":%d,
		"selector":{"matchLabels":{"app":%[1]q}},"template":{"metadata":{"labels":{"app":%[1]q}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`, name, replicas))
	s.Send(201, "POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", client.JSON, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{
		"scaleTargetRef":{"apiVersion":"apps/v1","kind":"ReplicaSet","name":%[1]q},"minReplicas":1,"maxReplicas":9,"metrics":[%s],
		"behavior":{"scaleDown":{"stabilizationWindowSeconds":0,"policies":[{"type":"Pods","value":9,"periodSeconds":1}]}}}}`, name, metrics))
}

// TestAutoscaler checks that autoscalers use metrics from aggregated API servers. Conditions and
// Events report why an autoscaler cannot scale.
func TestAutoscaler(t *testing.T) {
	t.Parallel()
	m := &metricsServer{pods: []string{"web-0", "web-1"}}
	m.used.Store(200)
	b := startBackend(t, m.handle)
	s := openAggregation(t, b.address(), func(c *daemon.Config) {
		c.Controllers, c.Autoscaling.SyncPeriod = "*,horizontal-pod-autoscaler-controller", daemon.Duration(100*time.Millisecond)
		c.Admission.Disable = []string{"ServiceAccount"}
	})
	const cpu = `{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}`
	for _, name := range m.pods {
		s.Send(201, "POST", "/api/v1/namespaces/default/pods", client.JSON, `{"metadata":{"name":"`+name+`","labels":{"app":"web"}},"spec":{
			"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"200m"}}}]}}`)
		s.Send(200, "PATCH", "/api/v1/namespaces/default/pods/"+name+"/status", client.MergePatch, `{"status":{"phase":"Running","startTime":"2026-01-01T00:00:00Z",
			"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
	}
	s.scaled("web", 2, cpu)
	s.wantAutoscaler("web", func(a autoscalerState) bool {
		return a.says("AbleToScale", "True", "SucceededGetScale", "the HPA controller was able to get the target's current scale") &&
			a.says("ScalingActive", "False", "FailedGetResourceMetric", "the HPA was unable to compute the replica count: failed to get cpu utilization: "+
				"unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource")
	})
	s.wantEvent("FailedComputeMetricsReplicas", "invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: failed to get cpu utilization")

	// The Pods use 100% of their requested CPU and the target is 50%, so the autoscaler doubles the
	// replicas.
	for group, version := range map[string]string{"metrics": "v1beta1", "custom.metrics": "v1beta1", "external.metrics": "v1beta1"} {
		s.register(b, group+".platform.io", version)
	}
	s.wantEvent("SuccessfulRescale", "New size: 4; reason: cpu resource utilization (percentage of request) above target")
	s.wantAutoscaler("web", func(a autoscalerState) bool {
		return a.Status.ObservedGeneration == 1 && a.Status.DesiredReplicas == 4 && a.Status.LastScaleTime != "" && a.says("ScalingActive", "True", "ValidMetricFound",
			"the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)") &&
			string(a.Status.CurrentMetrics[0]) == `{"type":"Resource","resource":{"name":"cpu","current":{"averageValue":"200m","averageUtilization":100}}}`
	})
	if user := b.last("/apis/metrics.platform.io/v1beta1/namespaces/default/pods").Header.Get("X-Remote-User"); user != "system:serviceaccount:platform-system:horizontal-pod-autoscaler" {
		t.Errorf("metrics are read as %q", user)
	}
	m.used.Store(50)
	s.wantEvent("SuccessfulRescale", "New size: 1; reason: All metrics below target")

	s.scaled("object", 1, `{"type":"Object","object":{"metric":{"name":"hits"},"describedObject":{"apiVersion":"v1","kind":"Service","name":"web"},"target":{"type":"AverageValue","averageValue":"4"}}}`)
	s.wantEvent("SuccessfulRescale", "New size: 3; reason: Service metric hits above target")
	s.scaled("external", 1, `{"type":"External","external":{"metric":{"name":"queue","selector":{"matchLabels":{"app":"web"}}},"target":{"type":"AverageValue","averageValue":"2500m"}}}`)
	s.wantEvent("SuccessfulRescale", "New size: 3; reason: external metric queue above target")
	s.scaled("none", 1, `{"type":"External","external":{"metric":{"name":"nothing"},"target":{"type":"Value","value":"1"}}}`)
	s.wantAutoscaler("none", func(a autoscalerState) bool {
		return a.says("ScalingActive", "False", "FailedGetExternalMetric", "the HPA was unable to compute the replica count: ")
	})
	s.scaled("missing", 1, `{"type":"Object","object":{"metric":{"name":"misses"},"describedObject":{"apiVersion":"v1","kind":"Service","name":"web"},"target":{"type":"AverageValue","averageValue":"4"}}}`)
	s.wantAutoscaler("missing", func(a autoscalerState) bool {
		return a.says("ScalingActive", "False", "FailedGetObjectMetric", "the HPA was unable to compute the replica count: unable to get metric misses on Service default/web: unable to fetch metrics from custom metrics API: no such metric")
	})
	s.Send(200, "PATCH", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/none", client.MergePatch, `{"spec":{"scaleTargetRef":{"kind":"Shelf"}}}`)
	s.wantAutoscaler("none", func(a autoscalerState) bool {
		return a.Status.ObservedGeneration == 1 && a.says("AbleToScale", "False", "FailedGetScale", `the HPA controller was unable to get the target's current scale: no matches for kind "Shelf" in group "apps"`)
	})

	s.scaleFromZero(m)
	s.Send(201, "POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", client.JSON, `{"metadata":{"name":"zweb"},"spec":{
		"scaleTargetRef":{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web"},"maxReplicas":9,"metrics":[`+cpu+`]}}`)
	s.wantEvent("AmbiguousSelector", "pods by selector app=web are controlled by more than one HPA (e.g. [default/web default/zweb])")
}

// scaleFromZero checks that an autoscaler scales a workload from zero only if it also scaled it to
// zero.
func (s aggregationSession) scaleFromZero(m *metricsServer) {
	s.T.Helper()
	const idle = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/idle"
	s.scaled("idle", 1, `{"type":"External","external":{"metric":{"name":"tasks"},"target":{"type":"AverageValue","averageValue":"2"}}}`)
	s.Send(200, "PATCH", idle, client.MergePatch, `{"spec":{"minReplicas":0}}`)
	s.wantAutoscaler("idle", func(a autoscalerState) bool {
		return a.Status.DesiredReplicas == 0 && a.says("ScaledToZero", "True", "ScaledToZero", "the HPA controller scaled the workload to zero")
	})
	m.tasks.Store(3)
	s.wantAutoscaler("idle", func(a autoscalerState) bool {
		return a.Status.DesiredReplicas == 2 && a.says("ScaledToZero", "False", "NotScaledToZero", "the HPA controller did not scale the workload to zero")
	})
	m.tasks.Store(0)
	s.wantAutoscaler("idle", func(a autoscalerState) bool {
		return a.Status.DesiredReplicas == 0 && a.says("ScaledToZero", "True", "ScaledToZero", "")
	})
	s.Send(200, "PATCH", idle, client.MergePatch, `{"spec":{"minReplicas":5}}`)
	s.wantEvent("SuccessfulRescale", "New size: 5; reason: Current number of replicas below Spec.MinReplicas")
	s.Send(200, "PATCH", "/apis/apps/v1/namespaces/default/replicasets/idle/scale", client.MergePatch, `{"spec":{"replicas":0}}`)
	s.wantAutoscaler("idle", func(a autoscalerState) bool {
		return a.Status.CurrentReplicas == 0 && a.says("ScalingActive", "False", "ScalingDisabled", "") && a.says("ScaledToZero", "False", "NotScaledToZero", "")
	})
}

// TestAutoscalerGeneration checks that a change of the spec triggers an evaluation of the
// autoscaler.
func TestAutoscalerGeneration(t *testing.T) {
	t.Parallel()
	m := &metricsServer{}
	s := openAggregation(t, startBackend(t, m.handle).address(), func(c *daemon.Config) {
		c.Controllers, c.Autoscaling.SyncPeriod = "*,horizontal-pod-autoscaler-controller", daemon.Duration(time.Hour)
	})
	s.scaled("web", 2, `{"type":"External","external":{"metric":{"name":"tasks"},"target":{"type":"AverageValue","averageValue":"2"}}}`)
	for generation := 1; generation < 3; generation++ {
		s.wantAutoscaler("web", func(a autoscalerState) bool { return a.Status.ObservedGeneration == generation })
		s.Send(200, "PATCH", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/web", client.MergePatch, fmt.Sprintf(`{"spec":{"maxReplicas":%d}}`, 10+generation))
	}
}
