package cluster

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestAttacks checks that a workload with excessive resource demands does not affect others.
func TestAttacks(t *testing.T) {
	t.Parallel()
	c := openWorkloads(t)
	c.create("/api/v1/namespaces", `{"metadata":{"name":"n"}}`)
	c.create("/api/v1/namespaces/n/resourcequotas", `{"metadata":{"name":"q"},"spec":{"hard":{"pods":"3"}}}`)
	in := func(path string) string { return strings.Replace(path, "/default/", "/n/", 1) }
	c.create(in(statefulSets), statefulSet("huge", `"replicas":2147483647,"podManagementPolicy":"Parallel"`, template("huge", "one", "")))
	c.create(in(deployments), deployment("huge", `"replicas":2147483647`, template("huge", "one", "")))
	c.create(in(jobs), job("huge", `"completions":2147483647,"parallelism":2147483647,`, ""))
	c.create(in(jobs), job("indexed", `"completions":100000,"parallelism":100000,"completionMode":"Indexed",`, ""))
	// Frequent template changes leave at most revisionHistoryLimit old ReplicaSets.
	c.create(deployments, deployment("flap", `"replicas":2,"revisionHistoryLimit":1`, template("flap", "one", "")))
	for i := range 30 {
		c.patch(deployments+"/flap", fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"image-%d"}]}}}}`, i%3))
	}
	o := c.get(deployments + "/flap")
	c.wait(deployments+"/flap", map[string]any{"status.observedGeneration": o.At("metadata.generation"), "status.availableReplicas": 2, "status.updatedReplicas": 2, "status.replicas": 2})
	client.Eventually(t, func() error {
		if n := len(c.list(replicaSets, "app=flap")); n > 2 {
			return fmt.Errorf("%d sets", n)
		}
		return nil
	})
	if n := len(c.list(in(pods), "")); n != 3 {
		t.Errorf("%d Pods in a namespace for 3", n)
	}
	// A namespace can be deleted even while controllers keep creating objects in it.
	c.Send(200, "DELETE", "/api/v1/namespaces/n", "", "")
	client.Eventually(t, func() error {
		answer, err := c.Get(c.Ctx, "/api/v1/namespaces/n")
		if err != nil || answer.Code != 404 {
			return fmt.Errorf("%v %v", answer, err)
		}
		return nil
	})
}
