package operations_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/operations"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
)

// cluster is a store of Pods and budgets, and an Evictor.
type cluster struct {
	*actors.Store
	*operations.Evictor
	t             *testing.T
	pods, budgets *schema.Kind
}

func openCluster(t *testing.T) *cluster {
	t.Helper()
	kinds, err := catalog.New(meta.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	journal, err := persist.Open("/data", persist.Options{FS: vfs.NewMem(), Sync: persist.SyncAlways})
	if err != nil {
		t.Fatal(err)
	}
	store, err := actors.Open(actors.Options{Log: journal, Catalog: kinds, Naming: meta.Kubernetes, Tuning: actors.DefaultTuning()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(store.Close(context.Background()), journal.Close()); err != nil {
			t.Error(err)
		}
	})
	c := &cluster{Store: store, t: t, pods: kinds.Kind("", "v1", "pods"), budgets: kinds.Kind("policy", "v1", "poddisruptionbudgets")}
	c.Evictor = operations.NewEvictor(store, c.pods, c.budgets)
	return c
}

// create creates an object, and gives it a status.
func (c *cluster) create(k *schema.Kind, name string, object, status tree.Tree) {
	c.t.Helper()
	key := meta.Key{Namespace: "default", Name: name}
	metadata := object.EnsureObject("metadata")
	metadata["name"], metadata["namespace"] = name, "default"
	r, err := c.Mutate(context.Background(), request.Mutation{Verb: request.Create, Kind: k, Key: key, Object: object})
	if err != nil {
		c.t.Fatal(err)
	}
	created, err := codec.DecodeStored(k.Message, r.Object.JSON)
	if err != nil {
		c.t.Fatal(err)
	}
	created["status"] = status
	if _, err := c.Mutate(context.Background(), request.Mutation{Verb: request.Update, Kind: k, Key: key, Subresource: "status", Object: created}); err != nil {
		c.t.Fatal(err)
	}
}

// pod creates a Pod of an app in a phase, ready or not.
func (c *cluster) pod(name, app, phase, ready string) {
	c.t.Helper()
	c.create(c.pods, name, tree.Tree{
		"metadata": tree.Tree{"labels": tree.Tree{"app": app}},
		"spec":     tree.Tree{"containers": []any{tree.Tree{"name": "c", "image": "i"}}, "terminationGracePeriodSeconds": int64(0)},
	}, tree.Tree{"phase": phase, "conditions": []any{tree.Tree{"type": "Ready", "status": ready}}})
}

// budget creates a budget of an app that allows so many disruptions.
func (c *cluster) budget(name, app string, allowed, observed int64) {
	c.t.Helper()
	c.create(c.budgets, name, tree.Tree{
		"spec": tree.Tree{"minAvailable": int64(1), "selector": tree.Tree{"matchLabels": tree.Tree{"app": app}}},
	}, tree.Tree{
		"observedGeneration": observed, "disruptionsAllowed": allowed, "currentHealthy": int64(1), "desiredHealthy": int64(2), "expectedPods": int64(3),
	})
}

func (c *cluster) evict(name string) error {
	return c.Evict(context.Background(), operations.Eviction{Key: meta.Key{Namespace: "default", Name: name}})
}

func (c *cluster) exists(name string) bool {
	_, err := c.Get(context.Background(), request.Get{Kind: c.pods, Key: meta.Key{Namespace: "default", Name: name}})
	return err == nil
}

// TestEvict: which Pods are evicted, and what is said of the others.
func TestEvict(t *testing.T) {
	for _, test := range []struct {
		name         string
		phase, ready string
		budgets      int
		allowed      int64
		observed     int64
		code         int // of the refusal; 0 for none
		text         string
	}{
		{name: "no budget", phase: "Running", ready: "True"},
		{name: "a budget that allows it", phase: "Running", ready: "True", budgets: 1, allowed: 1, observed: 1},
		{name: "a budget that does not", phase: "Running", ready: "True", budgets: 1, observed: 1, code: 429, text: "needs 2 healthy pods and has 1 currently"},
		{name: "an old status", phase: "Running", ready: "True", budgets: 1, allowed: 1, code: 429, text: "is still being processed"},
		{name: "two budgets", phase: "Running", ready: "True", budgets: 2, allowed: 1, observed: 1, code: 500, text: "more than one PodDisruptionBudget"},
		{name: "a Pod that has ended", phase: "Succeeded", ready: "False", budgets: 1, observed: 1},
		{name: "a Pod that does not run yet", phase: "Pending", ready: "False", budgets: 1, observed: 1},
		{name: "a Pod that is not ready, of an unhealthy app", phase: "Running", ready: "False", budgets: 1, observed: 1, code: 429},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := openCluster(t)
			c.pod("a", "x", test.phase, test.ready)
			for n := range test.budgets {
				c.budget(fmt.Sprint("b", n), "x", test.allowed, test.observed)
			}
			c.budget("of-others", "y", 0, 1)
			err := c.evict("a")
			if test.code == 0 {
				if err != nil || c.exists("a") {
					t.Errorf("it was not evicted: %v", err)
				}
				return
			}
			status := meta.AsStatus(err)
			text := status.Message
			if status.Details != nil && len(status.Details.Causes) > 0 {
				text += status.Details.Causes[0].Message
			}
			if status.Code != test.code || !strings.Contains(text, test.text) || !c.exists("a") {
				t.Errorf("%d %s", status.Code, text)
			}
		})
	}
}

// TestDisruptionsAreTakenOnce: many evictions at a time take no more disruptions than there are.
func TestDisruptionsAreTakenOnce(t *testing.T) {
	c := openCluster(t)
	const pods, allowed = 8, 3
	for n := range pods {
		c.pod(fmt.Sprint("p", n), "x", "Running", "True")
	}
	c.budget("b", "x", allowed, 1)
	var wait sync.WaitGroup
	for n := range pods {
		wait.Go(func() {
			if err := c.evict(fmt.Sprint("p", n)); err != nil && meta.AsStatus(err).Code != 429 {
				t.Errorf("p%d: %v", n, err)
			}
		})
	}
	wait.Wait()
	left := 0
	for n := range pods {
		if c.exists(fmt.Sprint("p", n)) {
			left++
		}
	}
	if left != pods-allowed {
		t.Errorf("%d Pods are left of %d, with %d disruptions", left, pods, allowed)
	}
}

// TestDryRun: a dry run takes no disruption and deletes nothing.
func TestDryRun(t *testing.T) {
	c := openCluster(t)
	c.pod("a", "x", "Running", "True")
	c.budget("b", "x", 1, 1)
	for range 2 {
		if err := c.Evict(context.Background(), operations.Eviction{Key: meta.Key{Namespace: "default", Name: "a"}, DryRun: true}); err != nil || !c.exists("a") {
			t.Errorf("the dry run: %v", err)
		}
	}
	if err := c.evict("a"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestReadEviction: the options of a body, and their faults.
func TestReadEviction(t *testing.T) {
	for _, test := range []struct {
		options, policy, fault string
		dryRun                 bool
	}{
		{options: `{"propagationPolicy":"Foreground","dryRun":["All"]}`, policy: "Foreground", dryRun: true},
		{options: `{"orphanDependents":true}`, policy: "Orphan"},
		{options: `{"orphanDependents":false}`, policy: "Background"},
		{options: `{"orphanDependents":true,"propagationPolicy":"Orphan"}`, fault: "cannot be both set"},
		{options: `{"propagationPolicy":"Sometimes"}`, fault: "Unsupported value"},
		{options: `{"dryRun":["Some"]}`, fault: "Unsupported value"},
	} {
		var body tree.Tree
		if err := json.Unmarshal([]byte(`{"deleteOptions":`+test.options+`}`), &body); err != nil {
			t.Fatal(err)
		}
		v, err := operations.ReadEviction(meta.Key{Name: "a"}, body, meta.Kubernetes)
		if test.fault != "" {
			if err == nil || !strings.Contains(err.Error(), test.fault) {
				t.Errorf("%s: %v, want %s", test.options, err, test.fault)
			}
			continue
		}
		if err != nil || v.Delete.PropagationPolicy != test.policy || v.DryRun != test.dryRun || v.Key.Name != "a" {
			t.Errorf("%s: %+v, %v", test.options, v, err)
		}
	}
}
