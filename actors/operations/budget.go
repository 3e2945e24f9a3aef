package operations

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
)

// maxDisruptedPods bounds the Pods that a budget waits to see gone.
const maxDisruptedPods = 2000

// matchingBudgets lists the budgets whose selectors match a Pod.
func (e *Evictor) matchingBudgets(ctx context.Context, pod schema.Tree) (budgets []schema.Tree, err error) {
	if e.budgets == nil {
		return nil, nil
	}
	metadata := rules.Nested(pod, "metadata")
	listing, err := e.store.List(ctx, request.List{Kind: e.budgets, Namespace: rules.String(metadata, "namespace")})
	if err != nil {
		return nil, err
	}
	labels := map[string]string{}
	for key := range rules.Nested(metadata, "labels") {
		labels[key] = rules.String(rules.Nested(metadata, "labels"), key)
	}
	for _, o := range listing.Items {
		budget, err := decode(e.budgets, o)
		if err != nil {
			return nil, err
		}
		given, ok := rules.Nested(budget, "spec")["selector"].(schema.Tree)
		if !ok {
			continue
		}
		if s, valid := selector.FromLabelSelector(given); valid && s.Matches(meta.NewLabels(labels)) {
			budgets = append(budgets, budget)
		}
	}
	return budgets, nil
}

// bypassesBudget tells whether a Pod costs its budget nothing: it is not ready, and thus not
// counted, and the budget lets such Pods go.
func bypassesBudget(pod, budget schema.Tree) bool {
	for _, c := range rules.Trees(rules.Nested(pod, "status"), "conditions") {
		if rules.String(c, "type") == "Ready" && rules.String(c, "status") == "True" {
			return false
		}
	}
	if rules.String(rules.Nested(budget, "spec"), "unhealthyPodEvictionPolicy") == "AlwaysAllow" {
		return true
	}
	status := rules.Nested(budget, "status")
	healthy, _ := rules.Int(status, "currentHealthy")
	desired, _ := rules.Int(status, "desiredHealthy")
	return healthy >= desired && desired > 0
}

// consumeDisruption takes one disruption from a budget, and tells it which Pod goes.
func (e *Evictor) consumeDisruption(ctx context.Context, v Eviction, budget schema.Tree) error {
	key := meta.Key{GroupResource: e.budgets.Storage, Namespace: v.Key.Namespace, Name: objectName(budget)}
	err := retryOnConflict(ctx, func() error {
		o, err := e.store.Get(ctx, request.Get{Kind: e.budgets, Key: key})
		if err != nil {
			return err
		}
		if budget, err = decode(e.budgets, o); err != nil {
			return err
		}
		if err := decrementAllowed(budget, v.Key.Name, e.now()); err != nil || v.DryRun {
			return err
		}
		_, err = e.store.Mutate(ctx, request.Mutation{
			Verb: request.Update, Kind: e.budgets, Key: key, Subresource: "status", Object: budget, FieldManager: v.Manager,
		})
		return err
	})
	if isConflict(err) {
		s := meta.NewTimeout("couldn't update PodDisruptionBudget \"" + key.Name + "\" due to conflicts")
		s.Details.RetryAfterSeconds = 10
		return s
	}
	return err
}

// decrementAllowed takes one disruption from a budget's status, for the Pod of a name.
func decrementAllowed(budget schema.Tree, pod string, now time.Time) error {
	status := rules.EnsureNested(budget, "status")
	seen, _ := rules.Int(status, "observedGeneration")
	generation, _ := rules.Int(rules.Nested(budget, "metadata"), "generation")
	allowed, _ := rules.Int(status, "disruptionsAllowed")
	switch gr := (meta.GroupResource{Group: "policy", Resource: "poddisruptionbudget"}); {
	case seen < generation:
		return budgetNotObserved(objectName(budget))
	case allowed < 0:
		return meta.NewForbidden(gr, objectName(budget), "pdb disruptions allowed is negative")
	case len(rules.Nested(status, "disruptedPods")) > maxDisruptedPods:
		return meta.NewForbidden(gr, objectName(budget), "DisruptedPods map too big - too many evictions not confirmed by PDB controller")
	case allowed == 0:
		return budgetExhausted(budget)
	}
	status["disruptionsAllowed"] = allowed - 1
	if allowed == 1 {
		setDisruptionNotAllowed(status, seen, now)
	}
	rules.EnsureNested(status, "disruptedPods")[pod] = now.UTC().Format(time.RFC3339)
	return nil
}

// budgetExhausted says why a budget allows nothing.
func budgetExhausted(budget schema.Tree) error {
	status := rules.Nested(budget, "status")
	c := disruptionCondition(status)
	if rules.String(c, "status") == "False" && rules.String(c, "reason") == "SyncFailed" {
		return tooManyRequests(0, "The disruption budget %s does not allow evicting pods currently because it failed sync: %s",
			objectName(budget), rules.String(c, "message"))
	}
	desired, _ := rules.Int(status, "desiredHealthy")
	healthy, _ := rules.Int(status, "currentHealthy")
	return tooManyRequests(0, "The disruption budget %s needs %d healthy pods and has %d currently", objectName(budget), desired, healthy)
}

// disruptionCondition is what a budget's status says of disruptions; nil if nothing.
func disruptionCondition(status schema.Tree) schema.Tree {
	for _, c := range rules.Trees(status, "conditions") {
		if rules.String(c, "type") == "DisruptionAllowed" {
			return c
		}
	}
	return nil
}

// setDisruptionNotAllowed says in a status that no disruption is left.
func setDisruptionNotAllowed(status schema.Tree, generation int64, now time.Time) {
	c := disruptionCondition(status)
	if c == nil {
		c = schema.Tree{"type": "DisruptionAllowed"}
		status["conditions"] = append(rules.Items(status, "conditions"), c)
	}
	if rules.String(c, "status") != "False" {
		c["status"], c["lastTransitionTime"] = "False", now.UTC().Format(time.RFC3339)
	}
	c["reason"], c["message"], c["observedGeneration"] = "InsufficientPods", "", generation
}
