package api

import (
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestRuntimeConfig checks that disabled versions and resources are not served.
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
