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

// maxDisrupted bounds the Pods that a budget waits to see gone.
const maxDisrupted = 2000

// covering lists the budgets whose selectors match a Pod.
func (e *Evictor) covering(ctx context.Context, pod schema.Tree) (budgets []schema.Tree, err error) {
	if e.budget == nil {
		return nil, nil
	}
	metadata := rules.Sub(pod, "metadata")
	listing, err := e.store.List(ctx, request.List{Kind: e.budget, Namespace: rules.Text(metadata, "namespace")})
	if err != nil {
		return nil, err
	}
	labels := map[string]string{}
	for key := range rules.Sub(metadata, "labels") {
		labels[key] = rules.Text(rules.Sub(metadata, "labels"), key)
	}
	for _, o := range listing.Items {
		budget, err := read(e.budget, o)
		if err != nil {
			return nil, err
		}
		given, ok := rules.Sub(budget, "spec")["selector"].(schema.Tree)
		if !ok {
			continue
		}
		if s, valid := selector.OfTree(given); valid && s.Matches(meta.NewLabels(labels)) {
			budgets = append(budgets, budget)
		}
	}
	return budgets, nil
}

// free tells whether a Pod costs its budget nothing: it is not ready, and thus not
// counted, and the budget lets such Pods go.
func free(pod, budget schema.Tree) bool {
	for _, c := range rules.Trees(rules.Sub(pod, "status"), "conditions") {
		if rules.Text(c, "type") == "Ready" && rules.Text(c, "status") == "True" {
			return false
		}
	}
	if rules.Text(rules.Sub(budget, "spec"), "unhealthyPodEvictionPolicy") == "AlwaysAllow" {
		return true
	}
	status := rules.Sub(budget, "status")
	healthy, _ := rules.Int(status, "currentHealthy")
	desired, _ := rules.Int(status, "desiredHealthy")
	return healthy >= desired && desired > 0
}

// spend takes one disruption from a budget, and tells it which Pod goes.
func (e *Evictor) spend(ctx context.Context, v Eviction, budget schema.Tree) error {
	key := meta.Key{GroupResource: e.budget.Storage, Namespace: v.Key.Namespace, Name: name(budget)}
	err := again(ctx, func() error {
		o, err := e.store.Get(ctx, request.Get{Kind: e.budget, Key: key})
		if err != nil {
			return err
		}
		if budget, err = read(e.budget, o); err != nil {
			return err
		}
		if err := take(budget, v.Key.Name, e.now()); err != nil || v.DryRun {
			return err
		}
		_, err = e.store.Mutate(ctx, request.Mutation{
			Verb: request.Update, Kind: e.budget, Key: key, Subresource: "status", Object: budget, FieldManager: v.Manager,
		})
		return err
	})
	if conflicts(err) {
		s := meta.NewTimeout("couldn't update PodDisruptionBudget \"" + key.Name + "\" due to conflicts")
		s.Details.RetryAfterSeconds = 10
		return s
	}
	return err
}

// take takes one disruption from a budget's status, for the Pod of a name.
func take(budget schema.Tree, pod string, now time.Time) error {
	status := rules.Grow(budget, "status")
	seen, _ := rules.Int(status, "observedGeneration")
	generation, _ := rules.Int(rules.Sub(budget, "metadata"), "generation")
	allowed, _ := rules.Int(status, "disruptionsAllowed")
	switch gr := (meta.GroupResource{Group: "policy", Resource: "poddisruptionbudget"}); {
	case seen < generation:
		return processing(name(budget))
	case allowed < 0:
		return meta.NewForbidden(gr, name(budget), "pdb disruptions allowed is negative")
	case len(rules.Sub(status, "disruptedPods")) > maxDisrupted:
		return meta.NewForbidden(gr, name(budget), "DisruptedPods map too big - too many evictions not confirmed by PDB controller")
	case allowed == 0:
		return exhausted(budget)
	}
	status["disruptionsAllowed"] = allowed - 1
	if allowed == 1 {
		disallow(status, seen, now)
	}
	rules.Grow(status, "disruptedPods")[pod] = now.UTC().Format(time.RFC3339)
	return nil
}

// exhausted says why a budget allows nothing.
func exhausted(budget schema.Tree) error {
	status := rules.Sub(budget, "status")
	c := condition(status)
	if rules.Text(c, "status") == "False" && rules.Text(c, "reason") == "SyncFailed" {
		return refusal(0, "The disruption budget %s does not allow evicting pods currently because it failed sync: %s",
			name(budget), rules.Text(c, "message"))
	}
	desired, _ := rules.Int(status, "desiredHealthy")
	healthy, _ := rules.Int(status, "currentHealthy")
	return refusal(0, "The disruption budget %s needs %d healthy pods and has %d currently", name(budget), desired, healthy)
}

// condition is what a budget's status says of disruptions; nil if nothing.
func condition(status schema.Tree) schema.Tree {
	for _, c := range rules.Trees(status, "conditions") {
		if rules.Text(c, "type") == "DisruptionAllowed" {
			return c
		}
	}
	return nil
}

// disallow says in a status that no disruption is left.
func disallow(status schema.Tree, generation int64, now time.Time) {
	c := condition(status)
	if c == nil {
		c = schema.Tree{"type": "DisruptionAllowed"}
		status["conditions"] = append(rules.Items(status, "conditions"), c)
	}
	if rules.Text(c, "status") != "False" {
		c["status"], c["lastTransitionTime"] = "False", now.UTC().Format(time.RFC3339)
	}
	c["reason"], c["message"], c["observedGeneration"] = "InsufficientPods", "", generation
}
