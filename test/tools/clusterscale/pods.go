package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

func createDeployments(ctx context.Context, c *client.Client, s settings) error {
	for i := range s.deployments {
		replicas := s.pods / s.deployments
		if i < s.pods%s.deployments {
			replicas++
		}
		name := fmt.Sprint("web-", i)
		labels := map[string]any{"app": name}
		answer, err := c.Create(ctx, deployments, client.Object{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name},
			"spec": map[string]any{
				"replicas": replicas, "selector": map[string]any{"matchLabels": labels},
				"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": []any{map[string]any{
					"name": "main", "image": "pause", "resources": map[string]any{"requests": map[string]any{"cpu": "100m", "memory": "64Mi"}},
				}}}},
			},
		})
		if err != nil {
			return err
		}
		if answer.Code != http.StatusCreated {
			return &answer
		}
	}
	return nil
}

const deployments = "/apis/apps/v1/namespaces/default/deployments"

func awaitAvailable(ctx context.Context, c *client.Client, pods int) error {
	for {
		list, err := c.List(ctx, deployments, nil)
		if err != nil {
			return err
		}
		available := 0
		for _, d := range list.Items {
			n, _ := d.At("status.availableReplicas").(float64)
			available += int(n)
		}
		if available >= pods {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d Pods are available: %w", available, pods, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// counts contains the numbers of Pods that have reached each stage.
type counts struct{ created, placed, ready int }

// A follower watches the Pods of a namespace and counts them by stage.
type follower struct {
	mu      sync.Mutex
	stage   map[string]int // stage of each Pod by name
	counts  counts
	first   time.Time // when the first Pod was placed
	last    time.Time
	fault   error
	changed chan struct{} // capacity 1
}

// follow returns a follower that watches the Pods of an empty namespace until ctx is done.
func follow(ctx context.Context, c *client.Client, namespace string) (*follower, error) {
	path := "/api/v1/namespaces/" + namespace + "/pods"
	list, err := c.List(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	f := &follower{stage: map[string]int{}, changed: make(chan struct{}, 1)}
	go func() {
		version := fmt.Sprint(list.Version)
		for {
			if version, err = f.watch(ctx, c, path, version); err != nil {
				f.note(nil, fmt.Errorf("the watch of Pods: %w", err))
				return
			}
		}
	}()
	return f, nil
}

// watch watches Pods from a resource version until the server ends the watch. It returns the
// version from which to resume.
func (f *follower) watch(ctx context.Context, c *client.Client, path, version string) (next string, err error) {
	w, err := c.Watch(ctx, path, url.Values{"resourceVersion": {version}})
	if err != nil {
		return "", err
	}
	defer w.Close()
	for {
		e, err := w.Next()
		switch {
		case errors.Is(err, io.EOF):
			return version, nil
		case err != nil:
			return "", err
		case e.Type != client.Added && e.Type != client.Modified:
			return "", fmt.Errorf("%s %s", e.Type, e.Object)
		}
		version = fmt.Sprint(e.Object.Version())
		f.note(e.Object, nil)
	}
}

const (
	created = iota + 1
	placed
	ready
)

// note counts the stages that a Pod has reached. If err is not nil, it records the error that ended
// the watch instead.
func (f *follower) note(pod client.Object, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = err
	if err == nil {
		have, is := f.stage[pod.Name()], stageOf(pod)
		for ; have < is; have++ {
			switch have + 1 {
			case created:
				f.counts.created++
			case placed:
				f.counts.placed++
				if f.last = time.Now(); f.first.IsZero() {
					f.first = f.last
				}
			case ready:
				f.counts.ready++
			}
		}
		f.stage[pod.Name()] = have
	}
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

func stageOf(pod client.Object) int {
	conditions, _ := pod.At("status.conditions").([]any)
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == "Ready" && c["status"] == "True" {
			return ready
		}
	}
	if node, _ := pod.At("spec.nodeName").(string); node != "" {
		return placed
	}
	return created
}

func (f *follower) await(ctx context.Context, wanted int, count func(counts) int) error {
	for {
		f.mu.Lock()
		n, fault := f.counts, f.fault
		f.mu.Unlock()
		if count(n) >= wanted {
			return nil
		}
		if fault != nil {
			return fault
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), fmt.Errorf("%d Pods were created, %d placed, %d ready", n.created, n.placed, n.ready))
		case <-f.changed:
		}
	}
}

func (f *follower) placing() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last.Sub(f.first)
}
