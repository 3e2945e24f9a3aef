package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestDeprecation: a version that is going to be removed works, and says so in a header
// and in the metrics.
func TestDeprecation(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	const old = "/apis/autoscaling/v2beta2/namespaces/default/horizontalpodautoscalers"
	const body = `{"metadata":{"name":"a"},"spec":{"maxReplicas":2,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"}}}`
	const warning = `299 - "autoscaling/v2beta2 HorizontalPodAutoscaler is deprecated in v1.23+, unavailable in v1.26+; use autoscaling/v2 HorizontalPodAutoscaler"`
	for _, a := range []client.Answer{
		s.send(t, 201, http.MethodPost, old, client.JSON, body),
		s.get(t, 200, old),
		s.get(t, 200, old+"/a"),
		s.get(t, 404, old+"/none"),
		s.send(t, 200, http.MethodDelete, old+"/a", "", nil),
	} {
		if got := a.Header.Values("Warning"); len(got) != 1 || got[0] != warning {
			t.Errorf("warnings %q", got)
		}
	}
	if got := s.get(t, 200, strings.Replace(old, "v2beta2", "v2", 1)).Header.Values("Warning"); len(got) != 0 {
		t.Errorf("the version that stays warns: %q", got)
	}
	metrics := string(s.get(t, 200, "/metrics").Body)
	if !strings.Contains(metrics, `apiserver_requested_deprecated_apis{group="autoscaling",removed_release="1.26",resource="horizontalpodautoscalers",subresource="",version="v2beta2"} 1`) {
		t.Error("the metrics do not tell")
	}
}

// TestVersionsAreOneObject: an object is the same in all versions of its kind, under the uid,
// the version and the name that it has, each in its own form.
func TestVersionsAreOneObject(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	path := func(version string) string {
		return "/apis/autoscaling/" + version + "/namespaces/default/horizontalpodautoscalers"
	}
	made := s.send(t, 201, http.MethodPost, path("v1"), client.JSON,
		`{"metadata":{"name":"a"},"spec":{"maxReplicas":2,"targetCPUUtilizationPercentage":50,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"}}}`).Object()
	for _, version := range []string{"v1", "v2", "v2beta2"} {
		o := s.get(t, 200, path(version)+"/a").Object()
		if o["apiVersion"] != "autoscaling/"+version || o.UID() != made.UID() || o.Version() != made.Version() {
			t.Errorf("%s: %v", version, o)
		}
	}
	a := s.send(t, 400, http.MethodPost, path("v1"), client.JSON, `{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"b"}}`)
	wantFault(t, a, 400, "BadRequest", "the API version in the data (autoscaling/v2) does not match the expected API version (autoscaling/v1)")
}

// TestRuntimeConfig: versions and single resources are switched off, and then are not there.
func TestRuntimeConfig(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, func(c *daemon.Config) {
		if err := c.API.RuntimeConfig.Set("autoscaling/v1=false,apps/v1/daemonsets=false,batch/v1"); err != nil {
			t.Fatal(err)
		}
	})
	for path, code := range map[string]int{
		"/apis/autoscaling/v1": 404, "/apis/autoscaling/v1/horizontalpodautoscalers": 404, "/apis/autoscaling/v2/horizontalpodautoscalers": 200,
		"/apis/apps/v1/daemonsets": 404, "/apis/apps/v1/deployments": 200, "/apis/batch/v1/jobs": 200,
	} {
		s.get(t, code, path)
	}
	var group struct{ Versions []struct{ Version string } }
	client.Decode(t, s.get(t, 200, "/apis/autoscaling").Body, &group)
	for _, v := range group.Versions {
		if v.Version == "v1" {
			t.Error("discovery names a version that is switched off")
		}
	}
}

// TestGroups: the core group below /api, named groups below /apis, each version with its resources.
func TestGroups(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	for path, kind := range map[string]string{
		"/api": "APIVersions", "/apis": "APIGroupList", "/api/v1": "APIResourceList", "/apis/apps": "APIGroup", "/apis/apps/v1": "APIResourceList",
	} {
		if got := s.get(t, 200, path).Object(); got["kind"] != kind {
			t.Errorf("%s: %v", path, got["kind"])
		}
	}
}
