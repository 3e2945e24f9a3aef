package autoscaler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

const warning = reconcile.Warning

const (
	ableToScale    = "AbleToScale"
	scalingActive  = "ScalingActive"
	scalingLimited = "ScalingLimited"
	scaledToZero   = "ScaledToZero"

	belowMinimum = "Current number of replicas below Spec.MinReplicas"
)

// A turn is one reconciliation of an autoscaler, by one worker.
type turn struct {
	*Controller
	item      *reconcile.Item
	tree      tree.Tree // as stored
	spec      tree.Tree
	now       time.Time
	state     *state
	tolerance tolerance

	// Fields read from the target.
	target            *target
	current, observed int64 // desired and existing replicas
	selectorText      string
	pods              []pod

	failure    string // failure of the last metric, for the condition
	conditions []any
	newStatus  tree.Tree
}

func (c *Controller) newTurn(item *reconcile.Item) (*turn, error) {
	object, err := item.Tree()
	if err != nil {
		return nil, err
	}
	t := &turn{Controller: c, item: item, tree: object, spec: object.Object("spec"), now: c.cluster.Now(), state: c.state(item.Key)}
	t.tolerance = tolerance{down: t.toleranceOf("scaleDown"), up: t.toleranceOf("scaleUp")}
	status := object.Object("status")
	t.conditions = slices.Clone(status.List("conditions"))
	t.newStatus = tree.Tree{}
	for _, field := range []string{"observedGeneration", "currentReplicas", "desiredReplicas", "lastScaleTime", "currentMetrics", "conditions"} {
		t.newStatus.CopyField(status, field)
	}
	return t, nil
}

func (t *turn) namespace() string { return t.item.Key.Namespace }

func (t *turn) toleranceOf(direction string) float64 {
	if own := t.spec.Object("behavior", direction); own.Has("tolerance") {
		return quantity.Float(own.String("tolerance"))
	}
	return t.Tolerance
}

func (t *turn) event(kind, reason, message string) {
	t.recorder.Event(t.item, kind, reason, "%s", message)
}

// set replaces the condition of the given type. lastTransitionTime is kept while the status is
// unchanged.
func (t *turn) set(kind string, status bool, reason, message string) {
	text := map[bool]string{true: "True", false: "False"}[status]
	c := reconcile.NewCondition(kind, text, reason, message, t.now)
	for i, old := range t.conditions {
		if old, _ := old.(tree.Tree); old.String("type") == kind {
			if old.String("status") == text {
				c["lastTransitionTime"] = old["lastTransitionTime"]
			}
			t.conditions[i] = c
			return
		}
	}
	t.conditions = append(t.conditions, c)
}

func (t *turn) take(ctx context.Context) {
	defer func() { t.newStatus["conditions"] = t.conditions }()
	ref := t.spec.Object("scaleTargetRef")
	var err error
	if t.target, err = t.readTarget(ctx, t.namespace(), ref); err != nil {
		t.event(warning, "FailedGetScale", err.Error())
		t.set(ableToScale, false, "FailedGetScale", fmt.Sprintf("the HPA controller was unable to get the target's current scale: %v", err))
		return
	}
	t.set(ableToScale, true, "SucceededGetScale", "the HPA controller was able to get the target's current scale")
	t.newStatus["observedGeneration"] = t.tree.Object("metadata")["generation"]
	t.current, t.observed, t.selectorText = t.target.replicas, t.target.observed, t.target.selector
	if h := &t.state.history; len(h.recommendations) == 0 {
		h.recommendations = []event{{t.current, t.now}}
	}
	s := t.sizing()
	wanted, reason, ok := t.size(ctx, s)
	if !ok {
		t.newStatus["currentReplicas"] = t.current
		return
	}
	t.scaleTo(ctx, s, wanted, reason)
}

func (t *turn) sizing() *sizing {
	behavior := t.spec.Object("behavior")
	s := &sizing{history: &t.state.history, current: t.current, minimum: 1, now: t.now, hasBehavior: behavior != nil}
	if n, ok := t.spec.Int("minReplicas"); ok {
		s.minimum = n
	}
	s.max, _ = t.spec.Int("maxReplicas")
	s.up, s.down = readRules(behavior.Object("scaleUp"), 0), readRules(behavior.Object("scaleDown"), t.DownscaleStabilization)
	return s
}

func (t *turn) size(ctx context.Context, s *sizing) (wanted int64, reason string, ok bool) {
	t.newStatus["currentMetrics"] = nil
	fromZero := t.current == 0 && t.ScaleToZero && tree.IsConditionTrue(t.tree.Object("status"), scaledToZero)
	switch {
	case t.current == 0 && !fromZero:
		t.set(scalingActive, false, "ScalingDisabled", "scaling is disabled since the replica count of the target is zero")
		return t.current, "", true
	case t.current > s.max:
		return s.max, "Current number of replicas above Spec.MaxReplicas", true
	case t.current < s.minimum && !fromZero:
		return s.minimum, belowMinimum, true
	}
	proposed, metric, err := t.proposals(ctx)
	if err != nil {
		t.event(warning, "FailedComputeMetricsReplicas", err.Error())
		return 0, "", false
	}
	if proposed > t.current {
		reason = metric + " above target"
	} else if proposed < t.current {
		reason = "All metrics below target"
	}
	v := s.decide(proposed)
	t.set(ableToScale, true, v.stableReason, v.stableText)
	t.set(scalingLimited, v.limited, v.limitReason, v.limitMessage)
	if fromZero && v.replicas < s.minimum {
		return s.minimum, cmp.Or(reason, belowMinimum), true
	}
	return v.replicas, reason, true
}

// proposals returns the largest replica count proposed by any metric. If some metrics fail, it
// returns an error instead of scaling down.
func (t *turn) proposals(ctx context.Context) (replicas int64, metric string, err error) {
	if err := t.readPods(ctx); err != nil {
		return 0, "", err
	}
	metrics := t.spec.Objects("metrics")
	statuses := make([]any, len(metrics))
	invalid, first, failure := 0, error(nil), [2]string{}
	for i, m := range metrics {
		statuses[i] = tree.Tree{"type": ""}
		p, reason, err := t.propose(ctx, m)
		if err != nil {
			if invalid++; first == nil {
				first, failure = err, [2]string{reason, t.failure}
			}
			continue
		}
		statuses[i] = p.status
		if replicas == 0 || p.replicas > replicas {
			replicas, metric = p.replicas, p.metric
		}
	}
	t.newStatus["currentMetrics"] = statuses
	if invalid > 0 && (invalid == len(metrics) || replicas < t.current) {
		t.set(scalingActive, false, failure[0], failure[1])
		return 0, "", fmt.Errorf("invalid metrics (%d invalid out of %d), first error is: %w", invalid, len(metrics), first)
	}
	t.set(scalingActive, true, "ValidMetricFound", "the HPA was able to successfully calculate a replica count from "+metric)
	return replicas, metric, nil
}

func (t *turn) readPods(ctx context.Context) error {
	invalid := func(event, reason, message, condition string) error {
		t.event(warning, event, message)
		t.set(scalingActive, false, reason, cmp.Or(condition, message))
		return errors.New(message)
	}
	if t.selectorText == "" {
		return invalid("SelectorRequired", "InvalidSelector", "selector is required", "the HPA target's scale is missing a selector")
	}
	labels, err := selector.ParseLabels(t.selectorText)
	if err != nil {
		return invalid("InvalidSelector", "InvalidSelector", fmt.Sprintf("couldn't convert selector into a corresponding internal selector object: %v", err), "")
	}
	all, err := t.cluster.Pods.List(ctx, request.List{Namespace: t.namespace(), Labels: labels})
	if err != nil {
		return err
	}
	for _, o := range all {
		object, err := t.cluster.Pods.Decode(o)
		if err != nil {
			return err
		}
		t.pods = append(t.pods, pod{object})
	}
	if claimants := t.claim(t.item.Key, labels, t.pods); len(claimants) > 1 {
		slices.Sort(claimants)
		return invalid("AmbiguousSelector", "AmbiguousSelector", fmt.Sprintf("pods by selector %s are controlled by more than one HPA (e.g. %s)", t.selectorText, claimants[:2]), "")
	}
	return nil
}

func (t *turn) scaleTo(ctx context.Context, s *sizing, wanted int64, reason string) {
	t.newStatus["currentReplicas"] = t.current
	if wanted == t.current {
		t.newStatus["desiredReplicas"] = t.current
		return
	}
	if err := t.resize(ctx, t.target, wanted); err != nil {
		t.event(warning, "FailedRescale", fmt.Sprintf("New size: %d; reason: %s; error: %v", wanted, reason, err))
		t.set(ableToScale, false, "FailedUpdateScale", fmt.Sprintf("the HPA controller was unable to update the target scale: %v", err))
		return
	}
	t.set(ableToScale, true, "SucceededRescale", fmt.Sprintf("the HPA controller was able to update the target scale to %d", wanted))
	t.event(reconcile.Normal, "SuccessfulRescale", fmt.Sprintf("New size: %d; reason: %s", wanted, reason))
	if reason, message := "NotScaledToZero", "the HPA controller did not scale the workload to zero"; t.ScaleToZero {
		if wanted == 0 {
			reason, message = scaledToZero, "the HPA controller scaled the workload to zero"
		}
		t.set(scaledToZero, wanted == 0, reason, message)
	}
	s.note(wanted)
	t.newStatus["desiredReplicas"], t.newStatus["lastScaleTime"] = wanted, reconcile.Stamp(t.now)
}
