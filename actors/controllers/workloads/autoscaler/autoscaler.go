package autoscaler

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/apiservices"
	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/selector"
)

// Options configure a Controller. All durations are required.
type Options struct {
	// Period is the time between two reconciliations of an autoscaler.
	Period time.Duration
	// DownscaleStabilization is the default stabilization window for scaling down. The target is
	// never scaled below the highest recommendation in this window.
	DownscaleStabilization time.Duration
	// Tolerance is the default tolerance. No scaling occurs while the ratio of a metric to its
	// target is this close to 1.
	Tolerance float64
	// CPUInitializationPeriod is the time after a Pod's start in which its CPU usage is ignored
	// while the Pod is unready or has just become ready. A Pod that became unready within
	// InitialReadinessDelay of its start counts as never ready.
	CPUInitializationPeriod, InitialReadinessDelay time.Duration
	// ScaleToZero is the feature gate HPAScaleToZero.
	ScaleToZero bool
}

// A Controller scales the targets of HorizontalPodAutoscalers.
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

// state holds the data kept for an autoscaler between reconciliations. Only its own reconciliation
// uses history. Reconciliations of other autoscalers also read selects.
type state struct {
	history history
	selects selector.Labels // the Pods that it scales by
}

// New returns a Controller that reads metrics from servers.
func New(c *cluster.Cluster, servers apiservices.Servers, o Options) *Controller {
	a := &Controller{
		Options: o, cluster: c, scalers: c.Items("autoscaling", "v2", "HorizontalPodAutoscaler"),
		recorder: c.Recorder("horizontal-pod-autoscaler"), source: source{servers, c.Naming}, states: map[meta.Key]*state{},
	}
	a.Controller = c.Controller("horizontalpodautoscaler", a.reconcile, a.scalers)
	reconcile.On(a.Controller, a.scalers, func(old, now *reconcile.Item) {
		if now == nil {
			a.Add(old.Key)
		} else if old == nil || old.Generation() != now.Generation() {
			a.Add(now.Key)
		}
	})
	return a
}

// reconcile evaluates an autoscaler and schedules the next evaluation after Period, even after a
// failure. Failures are reported in Events and conditions.
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

// claim records an autoscaler's Pod selector. It returns all autoscalers in the namespace whose
// selectors match any of the given Pods.
func (c *Controller) claim(key meta.Key, selects selector.Labels, pods []pod) (claimants []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.states[key].selects = selects
	labels := make([]meta.Labels, len(pods))
	for i, p := range pods {
		labels[i] = selector.LabelsOf(p.Labels())
	}
	for other, s := range c.states {
		if other.Namespace == key.Namespace && matchesAny(s.selects, labels) {
			claimants = append(claimants, other.Namespace+"/"+other.Name)
		}
	}
	return claimants
}

func matchesAny(s selector.Labels, all []meta.Labels) bool {
	for _, labels := range all {
		if !s.Empty() && s.Matches(labels) {
			return true
		}
	}
	return false
}
