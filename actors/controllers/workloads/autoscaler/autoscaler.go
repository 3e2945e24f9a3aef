package autoscaler

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/extensions"
	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/selector"
)

// Options say when and how much is scaled. All are required.
type Options struct {
	// Period is the time between two turns of an autoscaler.
	Period time.Duration
	// DownscaleStabilization is how long the highest recommendation counts, where an autoscaler does not say.
	DownscaleStabilization time.Duration
	// Tolerance is how far from 1 the ratio of use and target may be without any change, where an autoscaler does not say.
	Tolerance float64
	// CPUInitializationPeriod is how long after its start a Pod that is not ready, or has just become so, does not count by its CPU
	// time; InitialReadinessDelay is how soon after its start a Pod must have become unready to count as never ready.
	CPUInitializationPeriod, InitialReadinessDelay time.Duration
}

// A Controller sizes what autoscalers name.
type Controller struct {
	Options
	*reconcile.Controller[meta.Key]
	cluster  *cluster.Cluster
	scalers  *reconcile.Cache[*reconcile.Item]
	recorder *reconcile.Recorder
	source   source

	mu     sync.Mutex // guards states
	states map[meta.Key]*state
}

// A state is what is known of one autoscaler between its turns. selects is read by those of others; the history belongs to the
// worker whose turn it is.
type state struct {
	history history
	selects selector.Labels // which Pods it scales by
}

// New makes the controller. servers have the metrics.
func New(c *cluster.Cluster, servers extensions.Servers, o Options) *Controller {
	a := &Controller{
		Options: o, cluster: c, scalers: c.Items("autoscaling", "v2", "HorizontalPodAutoscaler"),
		recorder: c.Recorder("horizontal-pod-autoscaler"), source: source{servers, c.Naming}, states: map[meta.Key]*state{},
	}
	a.Controller = c.Controller("horizontalpodautoscaler", a.reconcile, a.scalers)
	a.scalers.Subscribe(func(old, now *reconcile.Item) {
		if old == nil {
			a.Add(now.Key)
		} else if now == nil {
			a.Add(old.Key)
		}
	})
	return a
}

// reconcile takes one turn, and brings the next. What keeps a target from being scaled is told in Events and conditions, and tried
// again in the next turn.
func (c *Controller) reconcile(ctx context.Context, key meta.Key) error {
	item := c.scalers.Get(key)
	if item == nil {
		c.forget(key)
		return nil
	}
	c.AddAfter(key, c.Period)
	t, err := c.newTurn(item)
	if err != nil {
		return err
	}
	t.take(ctx)
	if err = c.scalers.UpdateStatus(ctx, t.tree, t.newStatus); err != nil && !reconcile.IsConflict(err) {
		t.event(warning, "FailedUpdateStatus", err.Error())
	}
	return err
}

// state is that of an autoscaler.
func (c *Controller) state(key meta.Key) *state {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.states[key]
	if s == nil {
		s = &state{}
		c.states[key] = s
	}
	return s
}

func (c *Controller) forget(key meta.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.states, key)
}

// select notes which Pods an autoscaler scales by, and returns the autoscalers that scale by any of some Pods.
func (c *Controller) claim(key meta.Key, selects selector.Labels, pods []pod) (claimants []meta.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.states[key].selects = selects
	labels := make([]meta.Labels, len(pods))
	for i, p := range pods {
		labels[i] = selector.LabelsOf(p.Object("metadata", "labels"))
	}
	for other, s := range c.states {
		if other.Namespace == key.Namespace && matchesAny(s.selects, labels) {
			claimants = append(claimants, other)
		}
	}
	return claimants
}

// matchesAny tells whether a selector that selects something matches any of some labels.
func matchesAny(s selector.Labels, all []meta.Labels) bool {
	for _, labels := range all {
		if !s.Empty() && s.Matches(labels) {
			return true
		}
	}
	return false
}
