package api

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// kindSession is a server and the time that a test may take.
type kindSession struct {
	*client.Server
	ctx context.Context
	t   *testing.T
}

func serveKinds(t *testing.T) kindSession {
	ctx, cancel := context.WithTimeout(t.Context(), client.Watchdog)
	t.Cleanup(cancel)
	return kindSession{client.Serve(t, t.TempDir(), nil), ctx, t}
}

// want sends a request and compares the code; the answer's object is returned.
func (s kindSession) want(code int, method, path string, body any) client.Object {
	s.t.Helper()
	contentType := client.JSON
	if method == "PATCH" {
		contentType = client.MergePatch
	}
	if text, ok := body.(string); ok {
		body = []byte(text)
	}
	answer, err := s.Do(s.ctx, method, path, contentType, body)
	if err != nil || answer.Code != code {
		s.t.Fatalf("%s %s: %v, %v, want %d", method, path, answer, err, code)
	}
	return answer.Object()
}

// atKinds is a value inside an object, as JSON.
func atKinds(o client.Object, path string) string {
	var v any = map[string]any(o)
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	b, _ := json.Marshal(v)
	return string(b)
}

const template = `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`

func TestKindScale(t *testing.T) {
	t.Parallel()
	s := serveKinds(t)
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
			"metadata.uid": atKinds(made, "metadata.uid"), "metadata.resourceVersion": atKinds(made, "metadata.resourceVersion"),
		} {
			if got := atKinds(scale, field); got != want {
				t.Errorf("%s: %s is %s, want %s", c.kind, field, got, want)
			}
		}
		scale["spec"] = map[string]any{"replicas": 3}
		if got := atKinds(s.want(200, "PUT", path, scale), "spec.replicas"); got != "3" {
			t.Errorf("%s: the answer to a PUT has %s replicas", c.kind, got)
		}
		s.want(409, "PUT", path, scale) // its version is that of before
		s.want(200, "PATCH", path, `{"spec":{"replicas":0}}`)
		if got := atKinds(s.want(200, "GET", path, nil), "spec.replicas"); got != "null" {
			t.Errorf("%s: a scale of 0 shows %s", c.kind, got)
		}
		refused := s.want(422, "PATCH", path, `{"spec":{"replicas":-1}}`)
		if got := atKinds(refused, "details.kind"); got != `"Scale"` {
			t.Errorf("%s: a fault is of a %s", c.kind, got)
		}
		now := s.want(200, "GET", c.collection+"/x", nil)
		if atKinds(now, "spec.replicas") != "0" || atKinds(now, "metadata.generation") != "3" {
			t.Errorf("%s: %s replicas, generation %s", c.kind, atKinds(now, "spec.replicas"), atKinds(now, "metadata.generation"))
		}
	}
}

// TestAutoscalerVersions: a write of one version back, as it was read, changes nothing.
func TestAutoscalerVersions(t *testing.T) {
	t.Parallel()
	s := serveKinds(t)
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
		if got := atKinds(shown, "apiVersion"); got != `"autoscaling/`+version+`"` {
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
	if atKinds(v1, "status.currentCPUUtilizationPercentage") != "7" {
		t.Errorf("version v1 shows %s", v1)
	}
	const want = `[{"pods":{"metric":{"name":"q"},"target":{"averageValue":"1","type":"AverageValue"}},"type":"Pods"},` +
		`{"resource":{"name":"cpu","target":{"averageUtilization":70,"type":"Utilization"}},"type":"Resource"}]`
	if got := atKinds(s.want(200, "GET", path("v2")+"/x", nil), "spec.metrics"); got != want {
		t.Errorf("a new percentage of version v1 makes the metrics %s", got)
	}
	s.want(200, "PATCH", path("v1")+"/x", `{"spec":{"targetCPUUtilizationPercentage":null}}`)
	if got := atKinds(s.want(200, "GET", path("v2")+"/x", nil), "spec.metrics"); strings.Contains(got, "cpu") {
		t.Errorf("without a percentage the metrics are %s", got)
	}
}

// TestSuspendedJob: the uid of a Job labels its Pods, and a Job that waits can be moved.
func TestSuspendedJob(t *testing.T) {
	t.Parallel()
	s := serveKinds(t)
	const path = "/apis/batch/v1/namespaces/default/jobs"
	job := s.want(201, "POST", path, `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"x"},"spec":{"suspend":true,
		"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`)
	labels, _ := json.Marshal(map[string]string{"batch.platform.io/controller-uid": job.UID()})
	if got := atKinds(job, "spec.selector.matchLabels"); got != string(labels) {
		t.Errorf("the selector is %s, want %s", got, labels)
	}
	const move = `{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}}`
	s.want(200, "PATCH", path+"/x", move)
	s.want(422, "PATCH", path+"/x/status", `{"status":{"conditions":[{"type":"Complete","status":"True"}]}}`)
	s.want(200, "PATCH", path+"/x/status", `{"status":{"startTime":"2026-01-01T00:00:00Z"}}`)
	s.want(422, "PATCH", path+"/x", `{"spec":{"template":{"spec":{"nodeSelector":{"a":"c"}}}}}`)
}
