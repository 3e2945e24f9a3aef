package cluster

import (
	"fmt"
	"slices"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const daemonSets = "/apis/apps/v1/namespaces/default/daemonsets"

func nodesOf(all []client.Object) (nodes []string) {
	for _, p := range all {
		nodes = append(nodes, fmt.Sprint(p.At("spec.nodeName")))
	}
	slices.Sort(nodes)
	return nodes
}

// node creates a ready Node and removes the taint that admission adds, as the node lifecycle
// controller would.
func (c *workloadCluster) node(name, labels string) {
	c.T.Helper()
	c.create("/api/v1/nodes", `{"metadata":{"name":"`+name+`","labels":{`+labels+`}}}`)
	c.patch("/api/v1/nodes/"+name, `{"spec":{"taints":null}}`)
}

// TestDaemonSet checks that each eligible node gets a Pod while nodes, labels and taints change,
// and that updates are rolled out.
func TestDaemonSet(t *testing.T) {
	t.Parallel()
	c := openWorkloads(t)
	for _, n := range []string{"n1", "n2", "n3", "n4"} {
		c.node(n, `"disk":"`+map[bool]string{true: "ssd", false: "hdd"}[n != "n4"]+`"`)
	}
	const path = daemonSets + "/agent"
	body := `{"metadata":{"name":"agent"},"spec":{"selector":{"matchLabels":{"app":"agent"}},"template":{"metadata":{"labels":{"app":"agent"}},"spec":{"nodeSelector":{"disk":"ssd"},"containers":[{"name":"c","image":"one"}]}}}}`
	c.create(daemonSets, body)
	on := func(nodes ...string) {
		t.Helper()
		client.Eventually(t, func() error {
			if got := nodesOf(c.list(pods, "app=agent")); !slices.Equal(got, nodes) {
				return fmt.Errorf("Pods on %v, want %v", got, nodes)
			}
			return nil
		})
		n := len(nodes)
		c.wait(path, map[string]any{"status.desiredNumberScheduled": n, "status.currentNumberScheduled": n, "status.numberReady": n, "status.numberAvailable": n, "status.updatedNumberScheduled": n})
	}
	on("n1", "n2", "n3")
	c.patch("/api/v1/nodes/n4", `{"metadata":{"labels":{"disk":"ssd"}}}`)
	on("n1", "n2", "n3", "n4")
	c.patch("/api/v1/nodes/n1", `{"spec":{"taints":[{"key":"only","value":"db","effect":"NoExecute"}]}}`)
	on("n2", "n3", "n4")
	c.Send(200, "DELETE", "/api/v1/nodes/n2", "", "")
	for _, p := range c.list(pods, "app=agent") { // in place of the Pod garbage collector
		if p.At("spec.nodeName") == "n2" {
			c.Send(200, "DELETE", pods+"/"+p.Name()+"?gracePeriodSeconds=0", "", "")
		}
	}
	on("n3", "n4")
	for i, update := range []string{
		`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"two"}]}}}}`,
		`{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},"template":{"spec":{"containers":[{"name":"c","image":"three"}]}}}}`,
	} {
		o := c.patch(path, update)
		c.wait(path, map[string]any{"status.observedGeneration": o.At("metadata.generation"), "status.updatedNumberScheduled": 2, "status.numberAvailable": 2})
		on("n3", "n4")
		if n := len(c.list("/apis/apps/v1/namespaces/default/controllerrevisions", "app=agent")); n != i+2 {
			t.Errorf("%d revisions", n)
		}
	}
}
