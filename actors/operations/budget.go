package operations

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxDisruptedPods limits a budget's status.disruptedPods, as in kube-apiserver.
const maxDisruptedPods = 2000

const disruptionAllowed = "DisruptionAllowed"

// matchingBudgets returns the budgets that select a Pod. A budget without a selector selects no
// Pod, and an empty selector selects every Pod of the namespace.
func (e *Evictor) matchingBudgets(ctx context.Context, pod tree.Tree) (budgets []tree.Tree, err error) {
	if e.budgets == nil {
		return nil, nil
	}
	metadata := pod.Object("metadata")
	listing, err := e.store.List(ctx, request.List{Kind: e.budgets, Namespace: metadata.String("namespace")})
	if err != nil {
		return nil, err
	}
	labels := selector.LabelsOf(metadata.Object("labels"))
	for _, o := range listing.Items {
		budget, err := decode(e.budgets, o)
		if err != nil {
			return nil, err
		}
		given, ok := budget.Object("spec")["selector"].(tree.Tree)
		if !ok {
			continue
		}
		if s, valid := selector.FromLabelSelector(given); valid && s.Matches(labels) {
			budgets = append(budgets, budget)
		}
	}
	return budgets, nil
}

// bypassesBudget reports whether a Pod can be evicted without consuming a disruption. This requires
// that the Pod is not ready and that the budget allows the eviction of unhealthy Pods.
func bypassesBudget(pod, budget tree.Tree) bool {
	if tree.IsConditionTrue(pod.Object("status"), "Ready") {
		return false
	}
	if budget.Object("spec").String("unhealthyPodEvictionPolicy") == "AlwaysAllow" {
		return true
	}
	status := budget.Object("status")
	healthy, _ := status.Int("currentHealthy")
	desired, _ := status.Int("desiredHealthy")
	return healthy >= desired && desired > 0
}

// consumeDisruption takes one disruption from the budget and adds the Pod to status.disruptedPods.
// It runs before the Pod is deleted, so that concurrent evictions cannot exceed the budget. If the
// deletion fails, the disruption controller restores the disruption.
func (e *Evictor) consumeDisruption(ctx context.Context, v Eviction, budget tree.Tree) error {
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
			Kind: e.budgets, Key: key, Subresource: "status", Change: request.Update{Object: budget}, FieldManager: v.Manager,
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

// decrementAllowed takes one disruption from a budget's status. It also adds the Pod and the
// current time to disruptedPods. The disruption controller does not count these Pods as healthy.
func decrementAllowed(budget tree.Tree, pod string, now time.Time) error {
	status := budget.EnsureObject("status")
	seen, _ := status.Int("observedGeneration")
	generation, _ := budget.Object("metadata").Int("generation")
	allowed, _ := status.Int("disruptionsAllowed")
	switch {
	case seen < generation:
		return budgetNotObserved(objectName(budget))
	case allowed < 0:
		return evictionForbidden(budget, "pdb disruptions allowed is negative", "pdb disruptions allowed is negative")
	case len(status.Object("disruptedPods")) > maxDisruptedPods:
		return evictionForbidden(budget, "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
			"too many pending evictions not confirmed by PDB controller")
	case allowed == 0:
		return budgetExhausted(budget)
	}
	status["disruptionsAllowed"] = allowed - 1
	if allowed == 1 {
		setDisruptionNotAllowed(status, seen, now)
	}
	status.EnsureObject("disruptedPods")[pod] = now.UTC().Format(time.RFC3339)
	return nil
}

func evictionForbidden(budget tree.Tree, why, cause string) error {
	s := meta.NewForbidden(meta.GroupResource{Group: "policy", Resource: "poddisruptionbudget"}, objectName(budget), why)
	s.Details.Causes = []meta.Cause{{Type: "DisruptionBudget", Message: "The disruption budget " + objectName(budget) + " does not allow evicting pods currently: " + cause}}
	return s
}

// budgetExhausted returns a 429 error that explains why the budget allows no disruption. Clients
// such as kubectl drain retry after this error.
func budgetExhausted(budget tree.Tree) error {
	status := budget.Object("status")
	c := tree.FindCondition(status, disruptionAllowed)
	if c.String("status") == "False" && c.String("reason") == "SyncFailed" {
		return tooManyRequests(0, "The disruption budget %s does not allow evicting pods currently because it failed sync: %s",
			objectName(budget), c.String("message"))
	}
	desired, _ := status.Int("desiredHealthy")
	healthy, _ := status.Int("currentHealthy")
	return tooManyRequests(0, "The disruption budget %s needs %d healthy pods and has %d currently", objectName(budget), desired, healthy)
}

func setCondition(status tree.Tree, kind, value string, now time.Time) tree.Tree {
	c := tree.FindCondition(status, kind)
	if c == nil {
		c = tree.Tree{"type": kind}
		status["conditions"] = append(status.List("conditions"), c)
	}
	if c.String("status") != value {
		c["status"], c["lastTransitionTime"] = value, now.UTC().Format(time.RFC3339)
	}
	return c
}

func setDisruptionNotAllowed(status tree.Tree, generation int64, now time.Time) {
	c := setCondition(status, disruptionAllowed, "False", now)
	c["reason"], c["message"], c["observedGeneration"] = "InsufficientPods", "", generation
}
