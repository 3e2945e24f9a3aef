package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// The size and rates of the simulated cluster.
const (
	clusterNodes     = 1_000
	clusterPods      = 30_000 // constant during Pod churn
	clusterChurn     = 100    // Pods created and deleted per second, independent of the cluster's size
	clusterHeartbeat = 10     // seconds between lease renewals, and between status updates, of a node
	clusterInformers = 20     // half of them watch Pods, a quarter each nodes and Leases
	leastClusterRate = 100    // minimum operations per second; small runs would mostly wait
)

type clusterRun struct {
	*leaseSet
	requests *breakdown
	rate     int // operations per second
	churn    int // operations per second for Pods; the others are for nodes
}

// simulateCluster runs a cluster's typical operations at their usual rates: Lease renewals, node
// status updates, and Pod starts. Each Pod start also ends an older Pod. The first row reports
// the total cost and the number of busy CPUs, and the others the latency by verb.
func simulateCluster(ctx context.Context, f *fixture) ([]Result, error) {
	leases, err := f.leaseSet(f.scaledSize("cluster: nodes", clusterNodes))
	if err != nil {
		return nil, err
	}
	r := &clusterRun{leaseSet: leases, requests: &breakdown{}, churn: min(clusterChurn, f.scaledSize("cluster: Pods a second", clusterChurn))}
	r.rate = 2*max(1, len(r.leases)/clusterHeartbeat) + r.churn
	f.total = max(4*f.Concurrency, f.scaledSize("cluster: Pods", clusterPods)) // Pods should be old when they are deleted
	f.others = append(f.others, f.pods())
	defer r.removeNodes()
	if err := f.fill(ctx, len(r.leases), func(c *Conn, n int) (int, error) {
		if _, err := c.Call(postTyped("/api/v1/nodes", f.Target.Accept, "v1", "Node", wire(1, wire(1, r.node(n))))); err != nil {
			return 0, err
		}
		return r.renew(c, n)
	}); err != nil {
		return nil, err
	}
	if err := f.fill(ctx, f.total, func(c *Conn, n int) (int, error) { return calls(c, r.startPod(n)...) }); err != nil {
		return nil, err
	}
	for collection, informers := range map[string]int{f.pods(): clusterInformers / 2, "/api/v1/nodes": clusterInformers / 4, r.collection: clusterInformers / 4} {
		pool, err := f.openWatchers(ctx, collection, informers)
		if err != nil {
			return nil, err
		}
		defer pool.close()
	}
	sample, err := f.load().drive(ctx, f.Target, paced(float64(max(leastClusterRate, r.rate)), r.step))
	if err != nil {
		return nil, err
	}
	results := r.requests.results(sample)
	results[0].Figure = &Figure{Value: sample.CPU.Seconds() / sample.Elapsed.Seconds(), Unit: "processors busy"}
	return results, nil
}

// step runs the n-th operation of the simulation. Some operations also get a Pod, or list Pods in
// one or all namespaces.
func (r *clusterRun) step(c *Conn, n int) (size int, err error) {
	turn := n * r.churn / r.rate // for a Pod
	beat := n - turn             // for a node
	node := beat / 2 % len(r.leases)
	switch {
	case (n+1)*r.churn/r.rate > turn:
		for _, request := range append(r.startPod(r.total+turn), r.deletePod(turn)) {
			verb := map[string]string{http.MethodPost: "create", http.MethodPatch: "patch", http.MethodDelete: "delete"}[request.Method]
			if err := r.send(c, verb, request); err != nil {
				return 0, err
			}
		}
	case beat%2 == 0:
		_, err = r.requests.time("update", func() (int, error) { return r.renew(c, node) })
	default:
		err = r.send(c, "patch", r.nodeStatus(node))
	}
	for _, look := range []struct {
		every      int
		verb, path string
	}{{10, "get", r.pod(r.total + turn - 2*r.Concurrency)}, {100, "list, a namespace", r.pods()}, {300, "list, all", "/api/v1/pods"}} {
		if err == nil && n%look.every == 0 && turn > 3*r.Concurrency {
			err = r.send(c, look.verb, get(look.path))
		}
	}
	return 0, err
}

func (r *clusterRun) send(c *Conn, verb string, request Request) error {
	_, err := r.requests.time(verb, func() (int, error) { return calls(c, request) })
	return err
}

func (r *clusterRun) startPod(n int) []Request {
	return []Request{r.createPod(n), r.bindPod(n, r.node(n%len(r.leases))), r.podStatus(n, "Running", "True")}
}

func (r *clusterRun) node(n int) string { return r.namespace + "-" + nodeName(n) }

func (r *clusterRun) nodeStatus(n int) Request {
	return patch("/api/v1/nodes/"+r.node(n)+"/status", typeMergePatch, fmt.Appendf(nil,
		`{"status":{"capacity":{"cpu":"4","memory":"16Gi","pods":"110"},"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady","lastHeartbeatTime":%q}],`+
			`"addresses":[{"type":"InternalIP","address":"10.0.0.9"}],"nodeInfo":{"kubeletVersion":"v1.35.0","machineID":%q}}}`,
		time.Now().UTC().Format(time.RFC3339), now()))
}

func (r *clusterRun) removeNodes() {
	c := r.Target.Conn()
	defer c.Close()
	for n := range r.leases {
		if _, _, err := c.Do(remove("/api/v1/nodes/" + r.node(n))); err != nil {
			r.Note("clean-up of nodes: %v", err)
			return
		}
	}
}
