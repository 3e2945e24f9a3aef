package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

type kindSession struct{ client.Session }

func (s kindSession) want(code int, method, path string, body any) client.Object {
	s.T.Helper()
	contentType := client.JSON
	if method == "PATCH" {
		contentType = client.MergePatch
	}
	text := ""
	if body != nil {
		text = fmt.Sprint(body) // the JSON of an object
	}
	return s.Send(code, method, path, contentType, text).Object()
}

const template = `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`

func TestKindScale(t *testing.T) {
	t.Parallel()
	s := kindSession{client.Open(t, nil)}
	const selector = `"selector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"DoesNotExist"}]}`
	for _, c := range []struct{ collection, apiVersion, kind, selector, shown string }{
		{"/apis/apps/v1/namespaces/default/deployments", "apps/v1", "Deployment", selector, `"a=b,!c"`},
		{"/apis/apps/v1/namespaces/default/replicasets", "apps/v1", "ReplicaSet", selector, `"a=b,!c"`},
		{"/apis/apps/v1/namespaces/default/statefulsets", "apps/v1", "StatefulSet", selector, `"a=b,!c"`},
		{"/api/v1/namespaces/default/replicationcontrollers", "v1", "ReplicationController", `"selector":{"a":"b"}`, `"a=b"`},
	} {
		made := s.want(201, "POST", c.collection, `{"apiVersion":"`+c.apiVersion+`","kind":"`+c.kind+`","metadata":{"name":"x"},"spec":{`+c.selector+`,`+template+`}}`)
		path := c.collection + "/x/scale"
		scale := s.want(200, "GET", path, nil)
		for field, want := range map[string]string{
			"kind": `"Scale"`, "apiVersion": `"autoscaling/v1"`, "spec.replicas": "1", "status.replicas": "0", "status.selector": c.shown,
			"metadata.uid": valueAt(made, "metadata.uid"), "metadata.resourceVersion": valueAt(made, "metadata.resourceVersion"),
		} {
			if got := valueAt(scale, field); got != want {
				t.Errorf("%s: %s is %s, want %s", c.kind, field, got, want)
			}
		}
		scale["spec"] = map[string]any{"replicas": 3}
		if got := valueAt(s.want(200, "PUT", path, scale), "spec.replicas"); got != "3" {
			t.Errorf("%s: the answer to a PUT has %s replicas", c.kind, got)
		}
		s.want(409, "PUT", path, scale) // its resource version is outdated
		s.want(200, "PATCH", path, `{"spec":{"replicas":0}}`)
		if got := valueAt(s.want(200, "GET", path, nil), "spec.replicas"); got != "null" {
			t.Errorf("%s: a scale of 0 shows %s", c.kind, got)
		}
		refused := s.want(422, "PATCH", path, `{"spec":{"replicas":-1}}`)
		if got := valueAt(refused, "details.kind"); got != `"Scale"` {
			t.Errorf("%s: a fault is of a %s", c.kind, got)
		}
		now := s.want(200, "GET", c.collection+"/x", nil)
		if valueAt(now, "spec.replicas") != "0" || valueAt(now, "metadata.generation") != "3" {
			t.Errorf("%s: %s replicas, generation %s", c.kind, valueAt(now, "spec.replicas"), valueAt(now, "metadata.generation"))
		}
	}
}

// TestAutoscalerVersions checks that an object can be read and written back unchanged in any
// version.
func TestAutoscalerVersions(t *testing.T) {
	t.Parallel()
	s := kindSession{client.Open(t, nil)}
	path := func(version string) string {
		return "/apis/autoscaling/" + version + "/namespaces/default/horizontalpodautoscalers"
	}
	s.want(201, "POST", path("v2"), `{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"x"},"spec":{"maxReplicas":3,
		"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"behavior":{"scaleUp":{"tolerance":"10m"}},
		"metrics":[{"type":"Pods","pods":{"metric":{"name":"q"},"target":{"type":"AverageValue","averageValue":"1"}}},
		{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":60}}}]}}`)
	s.want(200, "PATCH", path("v2")+"/x/status", `{"status":{"desiredReplicas":2,"conditions":[{"type":"AbleToScale","status":"True"}],
		"currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":7,"averageValue":"3m"}}}]}}`)
	stored := s.want(200, "GET", path("v2")+"/x", nil)
	for _, version := range []string{"v1", "v2beta2", "v2"} {
		shown := s.want(200, "GET", path(version)+"/x", nil)
		if got := valueAt(shown, "apiVersion"); got != `"autoscaling/`+version+`"` {
			t.Errorf("%s is shown as %s", version, got)
		}
		for _, sub := range []string{"", "/status"} {
			s.want(200, "PUT", path(version)+"/x"+sub, shown)
			if now := s.want(200, "GET", path("v2")+"/x", nil); now.String() != stored.String() {
				t.Fatalf("%s%s: written back it is\n%s, and was\n%s", version, sub, now, stored)
			}
		}
	}
	v1 := s.want(200, "PATCH", path("v1")+"/x", `{"spec":{"targetCPUUtilizationPercentage":70}}`)
	if valueAt(v1, "status.currentCPUUtilizationPercentage") != "7" {
		t.Errorf("version v1 shows %s", v1)
	}
	const want = `[{"pods":{"metric":{"name":"q"},"target":{"averageValue":"1","type":"AverageValue"}},"type":"Pods"},` +
		`{"resource":{"name":"cpu","target":{"averageUtilization":70,"type":"Utilization"}},"type":"Resource"}]`
	if got := valueAt(s.want(200, "GET", path("v2")+"/x", nil), "spec.metrics"); got != want {
		t.Errorf("a new percentage of version v1 makes the metrics %s", got)
	}
	s.want(200, "PATCH", path("v1")+"/x", `{"spec":{"targetCPUUtilizationPercentage":null}}`)
	if got := valueAt(s.want(200, "GET", path("v2")+"/x", nil), "spec.metrics"); strings.Contains(got, "cpu") {
		t.Errorf("without a percentage the metrics are %s", got)
	}
}

// TestSuspendedJob checks that a Job selects Pods by its UID. The node selector of a suspended
// Job can be changed until the Job first starts.
func TestSuspendedJob(t *testing.T) {
	t.Parallel()
	s := kindSession{client.Open(t, nil)}
	const path = "/apis/batch/v1/namespaces/default/jobs"
	job := s.want(201, "POST", path, `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"x"},"spec":{"suspend":true,
		"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`)
	labels, _ := json.Marshal(map[string]string{"batch.platform.io/controller-uid": job.UID()})
	if got := valueAt(job, "spec.selector.matchLabels"); got != string(labels) {
		t.Errorf("the selector is %s, want %s", got, labels)
	}
	const move = `{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}}`
	s.want(200, "PATCH", path+"/x", move)
	s.want(422, "PATCH", path+"/x/status", `{"status":{"conditions":[{"type":"Complete","status":"True"}]}}`)
	s.want(200, "PATCH", path+"/x/status", `{"status":{"startTime":"2026-01-01T00:00:00Z"}}`)
	s.want(422, "PATCH", path+"/x", `{"spec":{"template":{"spec":{"nodeSelector":{"a":"c"}}}}}`)
}
