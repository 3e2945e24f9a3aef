package kubelet

import (
	"context"
	"net/url"
	"sync"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// A Kubelet simulates the kubelets of all nodes. By default, Pods run and become ready. A Pod's
// "sim" annotation selects another behavior: "pending", "unready", "succeed", "fail", or "stay",
// which prevents the removal of a deleted Pod.
type Kubelet struct {
	c       *client.Client
	running sync.WaitGroup
	cancel  context.CancelFunc
}

// Start starts a simulation. It runs until ctx ends or Stop is called.
func Start(ctx context.Context, c *client.Client) *Kubelet {
	ctx, cancel := context.WithCancel(ctx)
	k := &Kubelet{c: c, cancel: cancel}
	k.running.Go(func() { k.follow(ctx) })
	return k
}

// Stop ends the simulation and waits for requests in progress.
func (k *Kubelet) Stop() {
	k.cancel()
	k.running.Wait()
}

func (k *Kubelet) follow(ctx context.Context) {
	for ctx.Err() == nil {
		w, err := k.c.Watch(ctx, "/api/v1/pods", url.Values{"sendInitialEvents": {"true"}, "resourceVersionMatch": {"NotOlderThan"}, "allowWatchBookmarks": {"true"}})
		if err != nil {
			return
		}
		work := make(chan client.Object, 64)
		var workers sync.WaitGroup
		for range 16 {
			workers.Go(func() {
				for pod := range work {
					k.treat(ctx, pod)
				}
			})
		}
		for {
			e, err := w.Next()
			if err != nil {
				break
			}
			if e.Type == client.Added || e.Type == client.Modified {
				work <- e.Object
			}
		}
		w.Close()
		close(work)
		workers.Wait()
	}
}

// treat performs the next transition of a Pod.
func (k *Kubelet) treat(ctx context.Context, pod client.Object) {
	path := "/api/v1/namespaces/" + pod.Namespace() + "/pods/" + pod.Name()
	if pod.Metadata()["deletionTimestamp"] != nil {
		if pod.At("metadata.annotations.sim") != "stay" {
			k.remove(ctx, path)
		}
		return
	}
	if pod.At("spec.nodeName") == nil {
		_, _ = k.c.Create(ctx, path+"/binding", map[string]any{"metadata": map[string]any{"name": pod.Name()}, "target": map[string]any{"kind": "Node", "name": nodeFor(pod)}})
		return
	}
	if pod.At("status.phase") != "Pending" {
		return
	}
	status := func(phase, ready string, code int) {
		now := time.Now().UTC().Format(time.RFC3339)
		state := map[string]any{"running": map[string]any{"startedAt": now}}
		if phase != "Running" {
			state = map[string]any{"terminated": map[string]any{"exitCode": code, "finishedAt": now, "startedAt": now, "reason": "Completed"}}
		}
		_, _ = k.c.Patch(ctx, path+"/status", map[string]any{"status": map[string]any{
			"phase": phase, "conditions": []any{map[string]any{"type": "Ready", "status": ready, "lastTransitionTime": now}},
			"containerStatuses": []any{map[string]any{"name": "c", "image": "i", "imageID": "", "ready": ready == "True", "restartCount": 0, "state": state}},
		}})
	}
	switch pod.At("metadata.annotations.sim") {
	case "pending":
	case "unready":
		status("Running", "False", 0)
	case "succeed":
		status("Succeeded", "False", 0)
	case "fail":
		status("Failed", "False", 1)
	default:
		status("Running", "True", 0)
	}
}

// remove deletes a Pod without a grace period. It retries on errors, because no further watch event
// for the Pod may arrive.
func (k *Kubelet) remove(ctx context.Context, path string) {
	client.Poll(func() bool {
		answer, err := k.c.Delete(ctx, path, map[string]any{"gracePeriodSeconds": 0})
		return err == nil && (answer.Code < 300 || answer.Code == 404) || ctx.Err() != nil
	})
}

// nodeFor returns the node in the Pod's node affinity, which the DaemonSet controller sets, or n1.
func nodeFor(pod client.Object) string {
	terms, _ := pod.At("spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms").([]any)
	if len(terms) == 0 {
		return "n1"
	}
	return terms[0].(map[string]any)["matchFields"].([]any)[0].(map[string]any)["values"].([]any)[0].(string)
}
