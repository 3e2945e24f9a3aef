package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
)

const (
	// simulatedLabel marks the Nodes of simulations.
	simulatedLabel = "troupe/simulated"
	// downAnnotation simulates a power failure: the node neither renews its lease nor handles its
	// Pods.
	downAnnotation = "troupe/down"

	leaseSeconds   = 40               // after which a silent node counts as not ready
	renewPeriod    = 10 * time.Second // between two renewals of a lease
	reportPeriod   = 5 * time.Minute  // between two writes of an unchanged node status
	registerAtOnce = 16               // concurrent registrations
)

type nodeView struct {
	Metadata Metadata
	Status   struct {
		Conditions            []Condition
		Capacity, Allocatable map[string]string
	}
}

// register registers all nodes, and removes surplus Nodes of earlier runs.
func (c *Cluster) register(ctx context.Context) error {
	c.mu.Lock()
	for i := range c.Nodes {
		c.nodes[c.nodeName(i)] = &node{present: true}
	}
	c.mu.Unlock()
	if err := c.removeOthers(ctx); err != nil {
		return fmt.Errorf("existing nodes: %w", err)
	}
	return c.each(ctx, registerAtOnce, func(i int) error {
		name := c.nodeName(i)
		if err := retry(ctx, func() error { return c.registerNode(ctx, name) }); err != nil {
			return fmt.Errorf("registering node %s: %w", name, err)
		}
		c.ready.Add(1)
		return nil
	})
}

func (c *Cluster) each(ctx context.Context, atOnce int, do func(i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range c.Nodes {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return do(i)
		})
	}
	return group.Wait()
}

// removeOthers deletes simulated Nodes that are not part of this cluster.
func (c *Cluster) removeOthers(ctx context.Context) error {
	var list struct {
		Items []nodeView
	}
	if err := c.read(ctx, "/api/v1/nodes?"+url.Values{"labelSelector": {simulatedLabel}}.Encode(), &list); err != nil {
		return err
	}
	for _, n := range list.Items {
		if c.isOurs(n.Metadata.Name) {
			continue
		}
		if _, err := c.send(ctx, http.MethodDelete, "/api/v1/nodes/"+n.Metadata.Name, "", nil); err != nil && !rest.HasCode(err, http.StatusNotFound) {
			return err
		}
	}
	return nil
}

func (c *Cluster) registerNode(ctx context.Context, name string) error {
	_, err := c.send(ctx, http.MethodPost, "/api/v1/nodes", "", c.nodeObject(name))
	if err != nil && !rest.HasCode(err, http.StatusConflict) {
		return err
	}
	if err := c.renew(ctx, name); err != nil {
		return err
	}
	return c.report(ctx, name)
}

func (c *Cluster) nodeObject(name string) any {
	label := func(s string) string { return c.Naming.Translate("platform.io/" + s) }
	return map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{
			"name": name, "labels": map[string]string{
				label("hostname"): name, label("os"): "linux", label("arch"): runtime.GOARCH, simulatedLabel: "true",
			},
		},
	}
}

func (c *Cluster) report(ctx context.Context, name string) error {
	_, port, err := net.SplitHostPort(c.kubelet.Addr().String())
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Second)
	c.mu.Lock()
	since := c.nodes[name].since
	allocatable := map[string]any{}
	maps.Copy(allocatable, c.nodes[name].foreign)
	c.mu.Unlock()
	for resource, amount := range c.Capacity {
		allocatable[resource] = amount
	}
	if since.IsZero() {
		since = now
	}
	conditions := make([]any, 0, 4)
	for _, condition := range []struct{ kind, status, reason, message string }{
		{"MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
		{"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
		{"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
		{"Ready", "True", "KubeletReady", "the node is simulated"},
	} {
		conditions = append(conditions, map[string]any{
			"type": condition.kind, "status": condition.status, "reason": condition.reason, "message": condition.message, "lastHeartbeatTime": now, "lastTransitionTime": since,
		})
	}
	status := map[string]any{
		"capacity": c.Capacity, "allocatable": allocatable, "conditions": conditions,
		"declaredFeatures": []string{"InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"},
		"addresses":        []any{map[string]any{"type": "InternalIP", "address": c.Address}}, // no Hostname, which would not resolve
		"daemonEndpoints":  map[string]any{"kubeletEndpoint": map[string]any{"Port": number}},
		"nodeInfo": map[string]any{
			"machineID": name, "systemUUID": name, "bootID": name, "kernelVersion": "simulated", "osImage": "simulated", "containerRuntimeVersion": "simulated://1",
			"kubeletVersion": KubeletVersion, "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": runtime.GOARCH,
		},
	}
	_, err = c.send(ctx, http.MethodPatch, "/api/v1/nodes/"+name+"/status", rest.StrategicPatch, map[string]any{"status": status})
	return err
}

// KubeletVersion is the version that nodes report. Schedulers and conformance tests compare it with
// the server's version.
const KubeletVersion = "v1.37.2"

// renew renews or creates a node's lease. The Node owns the lease, so that garbage collection
// deletes it.
func (c *Cluster) renew(ctx context.Context, name string) error {
	path := "/apis/" + c.Naming.Group("coordination") + "/v1/namespaces/" + c.Naming.NodeLeaseNamespace() + "/leases"
	spec := map[string]any{"holderIdentity": name, "leaseDurationSeconds": leaseSeconds, "renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")}
	_, err := c.send(ctx, http.MethodPatch, path+"/"+name, rest.MergePatch, map[string]any{"spec": spec})
	if rest.HasCode(err, http.StatusNotFound) {
		var node nodeView
		if err := c.read(ctx, "/api/v1/nodes/"+name, &node); err != nil {
			return err
		}
		_, err = c.send(ctx, http.MethodPost, path, "", map[string]any{
			"apiVersion": c.Naming.Group("coordination") + "/v1", "kind": "Lease", "spec": spec, "metadata": map[string]any{
				"name": name, "ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Node", "name": name, "uid": node.Metadata.UID}},
			},
		})
		return err
	}
	return err
}

// heartbeats renews the leases of all nodes, evenly spread over renewPeriod. It writes the status
// of every node once per reportPeriod. If a node is not ready or its allocatable resources are
// outdated, it also writes the status with the next lease renewal.
func (c *Cluster) heartbeats(ctx context.Context) {
	reported := time.Now()
	for ctx.Err() == nil {
		begin := time.Now()
		all := time.Since(reported) >= reportPeriod
		if all {
			reported = begin
		}
		_ = c.each(ctx, min(c.Workers, max(c.Nodes, 1)), func(i int) error { // errors end with the context
			pause := time.Until(begin.Add(renewPeriod * time.Duration(i) / time.Duration(c.Nodes)))
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(pause):
			}
			c.heartbeat(ctx, c.nodeName(i), all)
			return nil
		})
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(begin.Add(renewPeriod))):
		}
	}
}

func (c *Cluster) heartbeat(ctx context.Context, name string, report bool) {
	c.mu.Lock()
	n := *c.nodes[name]
	c.mu.Unlock()
	if n.down || !n.present {
		return
	}
	err := c.renew(ctx, name)
	if err == nil && (report || !n.ready || len(n.foreign) > 0) {
		err = c.report(ctx, name)
	}
	if err != nil && ctx.Err() == nil {
		c.Log.Debug("a heartbeat of a node failed", "node", name, "error", err)
	}
}

// foreignResources returns a patch of status.allocatable that mirrors resources added to or removed
// from the node's capacity by other clients. A nil value removes the resource.
func (c *Cluster) foreignResources(view nodeView) map[string]any {
	all := map[string]any{}
	for name, amount := range view.Status.Capacity {
		if _, ours := c.Capacity[name]; !ours && view.Status.Allocatable[name] != amount {
			all[name] = amount
		}
	}
	for name := range view.Status.Allocatable {
		if _, ours := c.Capacity[name]; !ours && view.Status.Capacity[name] == "" {
			all[name] = nil
		}
	}
	return all
}

// noteNode handles a watch event for a Node. A simulated node is inactive while its Node object is
// deleted or has downAnnotation. When the node returns, noteNode requeues its Pods.
func (c *Cluster) noteNode(change objectChange) {
	var view nodeView
	if !change.gone {
		if err := json.Unmarshal(change.object, &view); err != nil {
			c.Log.Warn("cannot decode a node", "node", change.key.name, "error", err)
			return
		}
	}
	i := indexOf(view.Status.Conditions, "Ready")
	c.mu.Lock()
	n := c.nodes[change.key.name]
	if n == nil {
		c.mu.Unlock()
		return
	}
	wasAway := n.down || !n.present
	n.present = !change.gone
	n.down = view.Metadata.Annotations[downAnnotation] == "true"
	n.ready = i >= 0 && view.Status.Conditions[i].Status == "True"
	n.foreign = c.foreignResources(view)
	n.since = time.Time{}
	if n.ready {
		n.since = view.Status.Conditions[i].LastTransitionTime
	}
	isBack := wasAway && n.present && !n.down
	c.mu.Unlock()
	if isBack {
		for _, p := range c.allPods() {
			if p.Spec.NodeName == change.key.name {
				c.queue.add(p.key(), time.Now())
			}
		}
	}
}
