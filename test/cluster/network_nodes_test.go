package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

type node struct {
	Metadata struct{ Name string }
	Spec     struct {
		PodCIDR  string
		PodCIDRs []string
		Taints   []struct{ Key, Effect string }
	}
	Status struct {
		Conditions []struct{ Type, Status, Reason string }
	}
}

// TestSilentNodes checks that a node without heartbeats gets the Ready status Unknown and a taint,
// and that its Pods are evicted. If all nodes are silent, no Pod is evicted.
func TestSilentNodes(t *testing.T) {
	t.Parallel()
	c := openNetwork(t, func(d *daemon.Config) {
		d.Controllers = "*,node-lifecycle-controller,taint-eviction-controller,-pod-garbage-collector-controller"
		d.Nodes.MonitorPeriod, d.Nodes.MonitorGracePeriod = daemon.Duration(20*time.Millisecond), daemon.Duration(300*time.Millisecond)
	})
	ns := c.namespace("silent")
	for _, name := range []string{"alive", "silent"} {
		c.node(name, "z1")
		c.ready(name, "True")
		c.create("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"holderIdentity":%q,"renewTime":"2026-01-01T00:00:00.000000Z"}}`, name, name))
	}
	c.pod(ns, "stays", `{}`, "alive", `{"ip":"10.9.0.1"}`, "True")
	c.pod(ns, "goes", `{}`, "silent", `{"ip":"10.9.0.2"}`, "True")
	c.patch(ns+"pods/goes", `{"spec":{"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":0}]}}`)
	// Send a heartbeat as a kubelet would. A lease renewal is not enough, because the condition
	// stays Unknown until the status is updated.
	var renewed int
	renew := func(name string) {
		renewed++
		c.ready(name, "True")
		c.patch("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/"+name, fmt.Sprintf(`{"spec":{"renewTime":"2026-01-01T00:00:%02d.%06dZ"}}`, renewed/1000000, renewed%1000000))
	}
	shows := func(name, expected string) {
		t.Helper()
		c.soon(func() error {
			renew("alive")
			var n node
			if err := c.get(core+"nodes/"+name, &n); err != nil {
				return err
			}
			var taints []string
			for _, x := range n.Spec.Taints {
				taints = append(taints, strings.TrimPrefix(x.Key, "node.kubernetes.io/")+":"+x.Effect)
			}
			slices.Sort(taints)
			ready := ""
			for _, x := range n.Status.Conditions {
				if x.Type == "Ready" {
					ready = x.Status + " " + x.Reason
				}
			}
			return want(fmt.Sprint(ready, taints), expected)
		})
	}
	shows("silent", "Unknown NodeStatusUnknown[unreachable:NoExecute unreachable:NoSchedule]")
	c.soon(func() error {
		renew("alive")
		var p struct {
			Metadata struct{ DeletionTimestamp string }
			Status   struct {
				Conditions []struct{ Type, Status, Reason string }
			}
		}
		if err := c.get(ns+"pods/goes", &p); err != nil {
			return err
		}
		if p.Metadata.DeletionTimestamp == "" {
			return fmt.Errorf("the Pod stays: %+v", p.Status)
		}
		return want(p.Status.Conditions, "[{Ready False } {DisruptionTarget True DeletionByTaintManager}]")
	})
	shows("alive", "True []")
	c.soon(func() error {
		renew("alive")
		renew("silent")
		var n node
		if err := c.get(core+"nodes/silent", &n); err != nil {
			return err
		}
		return want(len(n.Spec.Taints), 0)
	})
	c.patch(core+"nodes/alive", `{"spec":{"unschedulable":true}}`)
	shows("alive", "True [unschedulable:NoSchedule]")
	// Without heartbeats, the conditions of all nodes become Unknown, but no Pod is evicted.
	for _, name := range []string{"alive", "silent"} {
		c.soon(func() error {
			var n node
			if err := c.get(core+"nodes/"+name, &n); err != nil {
				return err
			}
			execute := slices.ContainsFunc(n.Spec.Taints, func(x struct{ Key, Effect string }) bool { return x.Effect == "NoExecute" })
			unknown := slices.ContainsFunc(n.Status.Conditions, func(x struct{ Type, Status, Reason string }) bool { return x.Type == "Ready" && x.Status == "Unknown" })
			return want(fmt.Sprint(unknown, execute), "true false")
		})
	}
}

func (c *networkCluster) ready(name, status string) {
	c.T.Helper()
	c.patch(core+"nodes/"+name+"/status", fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q,"lastHeartbeatTime":%q}]}}`, status, time.Now().UTC().Format(time.RFC3339)))
}

// TestNodeRanges checks that each node gets Pod CIDRs, which are reused after its deletion.
func TestNodeRanges(t *testing.T) {
	t.Parallel()
	c := openNetwork(t, func(d *daemon.Config) {
		d.Services.ClusterIPRange = "10.244.1.0/24"
		d.Nodes.AllocateCIDRs, d.Nodes.ClusterCIDR, d.Nodes.CIDRMaskSizeIPv6 = true, "10.244.0.0/22,fd00:1::/62", 64
	})
	c.create(core+"nodes", `{"metadata":{"name":"has"},"spec":{"podCIDR":"10.244.2.0/24","podCIDRs":["10.244.2.0/24"]}}`)
	ranges := func(name string) string {
		t.Helper()
		var n node
		c.soon(func() error {
			if err := c.get(core+"nodes/"+name, &n); err != nil {
				return err
			}
			if n.Spec.PodCIDR == "" {
				return fmt.Errorf("%s has none", name)
			}
			return nil
		})
		return strings.Join(n.Spec.PodCIDRs, " ")
	}
	c.node("a", "z")
	if got := ranges("a"); got != "10.244.0.0/24 fd00:1::/64" && got != "10.244.3.0/24 fd00:1::/64" {
		t.Error(got)
	}
	c.node("b", "z")
	first, second := ranges("a"), ranges("b")
	if first == second || strings.Contains(second, "10.244.1.") || strings.Contains(second, "10.244.2.") {
		t.Error(first, second)
	}
	c.node("c", "z")
	c.soon(func() error {
		var list struct{ Items []struct{ Reason string } }
		if err := c.get(core+"namespaces/default/events?fieldSelector=involvedObject.name%3Dc", &list); err != nil {
			return err
		}
		return want(list.Items, "[{CIDRNotAvailable}]")
	})
	c.Send(200, "DELETE", core+"nodes/b", client.JSON, "")
	if got := ranges("c"); strings.Fields(got)[0] != strings.Fields(second)[0] {
		t.Errorf("%s instead of %s", got, second)
	}
}

// TestPodGC checks that excess terminated Pods are deleted in order: evicted Pods first, then the
// oldest.
func TestPodGC(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := openIn(t, dir, nil)
	ns := c.namespace("gc")
	c.node("n1", "z1")
	for _, name := range []string{"a", "b", "c", "d"} {
		c.pod(ns, name, `{}`, "n1", `{"ip":"10.9.0.1"}`, "False")
	}
	for _, name := range []string{"a", "c"} {
		c.patch(ns+"pods/"+name+"/status", `{"status":{"phase":"Succeeded"}}`)
	}
	c.patch(ns+"pods/b/status", `{"status":{"phase":"Failed","reason":"Evicted"}}`)
	c.Stop(t)
	c = openIn(t, dir, func(d *daemon.Config) { d.Nodes.TerminatedPodThreshold = 2 }) // the collector runs at the start
	c.soon(func() error {
		var list struct {
			Items []struct{ Metadata struct{ Name string } }
		}
		if err := c.get(ns+"pods", &list); err != nil {
			return err
		}
		return want(list.Items, "[{{a}} {{c}} {{d}}]")
	})
}

// TestCordon checks that a cordoned node is tainted before the controller's next sync.
func TestCordon(t *testing.T) {
	t.Parallel()
	c := openNetwork(t, func(d *daemon.Config) {
		d.Controllers = "*,node-lifecycle-controller"
		d.Nodes.MonitorPeriod, d.Nodes.MonitorGracePeriod = daemon.Duration(time.Hour), daemon.Duration(time.Hour)
	})
	c.node("a", "z1")
	c.ready("a", "True")
	for range 2 {
		for unschedulable, taints := range map[bool]string{true: "[{node.kubernetes.io/unschedulable NoSchedule}]", false: "[]"} {
			c.patch(core+"nodes/a", fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, unschedulable))
			c.soon(func() error {
				var n node
				if err := c.get(core+"nodes/a", &n); err != nil {
					return err
				}
				return want(n.Spec.Taints, taints)
			})
		}
	}
}

// TestSchedulerResources checks that the scheduler accepts quantities in all formats. It must use
// the allocated resources of a Pod whose resize is infeasible.
func TestSchedulerResources(t *testing.T) {
	t.Parallel()
	c := openNetwork(t, func(d *daemon.Config) { d.Controllers = "*,scheduler" })
	ns := c.namespace("scheduled")
	allocatable := func(name, memory string) {
		t.Helper()
		c.create(core+"nodes", fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"name":%[1]q}},"status":{"allocatable":{"cpu":"4","memory":%q,"pods":"110"}}}`, name, memory))
	}
	pod := func(name, node, requests string) {
		t.Helper()
		c.create(ns+"pods", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"nodeSelector":{"name":%q},"tolerations":[{"operator":"Exists"}],"containers":[{"name":"c","image":"i","resources":{"requests":%s}}]}}`, name, node, requests))
	}
	shows := func(name, expected string) {
		t.Helper()
		c.soon(func() error {
			var p struct {
				Spec   struct{ NodeName string }
				Status struct {
					Conditions []struct{ Type, Message string }
				}
			}
			if err := c.get(ns+"pods/"+name, &p); err != nil {
				return err
			}
			got := p.Spec.NodeName
			for _, x := range p.Status.Conditions {
				if x.Type == "PodScheduled" {
					got += x.Message
				}
			}
			return want(got, expected)
		})
	}
	for i, memory := range []string{"24581696Ki", "23Gi", "25171656704", "24696061952", "25e9", "0.03Ti", "25171656704500m"} {
		node := fmt.Sprint("n", i)
		allocatable(node, memory)
		pod(node+"-first", node, `{"memory":"20971520Ki"}`)
		shows(node+"-first", node)
		pod(node+"-second", node, `{"memory":"21474836480"}`)
		others := "1 Insufficient memory."
		if i > 0 {
			others = fmt.Sprintf("1 Insufficient memory, %d node(s) didn't match Pod's node affinity/selector.", i)
		}
		shows(node+"-second", fmt.Sprintf("0/%d nodes are available: %s", i+1, others))
	}

	allocatable("resized", "8Gi")
	pod("grows", "resized", `{"cpu":"1"}`)
	shows("grows", "resized")
	c.Send(200, "PATCH", ns+"pods/grows/resize", "application/strategic-merge-patch+json", `{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"4"}}}]}}`)
	c.patch(ns+"pods/grows/status", `{"status":{"phase":"Running","conditions":[{"type":"PodResizePending","status":"True","reason":"Infeasible"}],
		"containerStatuses":[{"name":"c","image":"i","imageID":"","restartCount":0,"ready":true,"allocatedResources":{"cpu":"1"},"resources":{"requests":{"cpu":"500m"}}}]}}`)
	pod("beside", "resized", `{"cpu":"3"}`)
	shows("beside", "resized")
}

// TestSchedulerPauses checks that the scheduler binds no Pod while kube-scheduler holds its Lease.
func TestSchedulerPauses(t *testing.T) {
	t.Parallel()
	const lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
	dir := t.TempDir()
	before := openIn(t, dir, nil)
	before.create(lease, `{"metadata":{"name":"kube-scheduler"},"spec":{"holderIdentity":"other","leaseDurationSeconds":3600}}`)
	before.create(core+"nodes", `{"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4","memory":"4Gi","pods":"110"}}}`)
	ns := before.namespace("scheduled")
	before.create(ns+"pods", `{"metadata":{"name":"a"},"spec":{"tolerations":[{"operator":"Exists"}],"containers":[{"name":"c","image":"i"}]}}`)
	before.Stop(t)

	c := openIn(t, dir, func(d *daemon.Config) { d.Controllers = "*,scheduler" })
	node := func() string {
		var p struct{ Spec struct{ NodeName string } }
		if err := c.get(ns+"pods/a", &p); err != nil {
			t.Error(err)
		}
		return p.Spec.NodeName
	}
	for i := range 200 { // leaves time for a binding
		c.patch(core+"nodes/n", fmt.Sprintf(`{"status":{"allocatable":{"cpu":"%d"}}}`, 5+i))
	}
	if got := node(); got != "" {
		t.Errorf("the Pod is on %q while kube-scheduler holds its Lease", got)
	}
	c.Send(200, "DELETE", lease+"/kube-scheduler", "", "")
	c.soon(func() error { return want(node(), "n") })
}
