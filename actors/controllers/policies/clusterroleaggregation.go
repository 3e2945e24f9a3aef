package policies

import (
	"bytes"
	"context"
	"slices"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authz/rbac"
)

// ClusterRoleAggregation computes the rules of ClusterRoles that have an aggregationRule. An
// aggregated role gets the rules of all selected roles, ordered by selector and then by name,
// without duplicates. Rules that other clients write into an aggregated role are overwritten.
type ClusterRoleAggregation struct {
	*reconcile.Controller[string]
	roles    reconcile.Client
	observed map[string]observedRole // by name; only the informer's goroutine uses it
}

// observedRole is the last observed state of a role. It includes the labels, because aggregated
// roles must also be updated when their selectors no longer match this role.
type observedRole struct {
	labels    meta.Labels
	selectors []selector.Labels // of its aggregationRule; nil if it has none
}

func NewClusterRoleAggregation(env *reconcile.Env) *ClusterRoleAggregation {
	a := &ClusterRoleAggregation{
		observed: map[string]observedRole{},
		roles:    env.Client("rbac.authorization.platform.io", "v1", "ClusterRole").As("clusterrole-aggregation-controller"),
	}
	a.Controller = reconcile.New(env, "ClusterRoleAggregator", a.aggregate, "cannot aggregate a cluster role", "role")
	a.Watch(a.roles, a.onRole)
	return a
}

// onRole enqueues the changed role, and every aggregated role whose selectors match its old or new
// labels.
func (a *ClusterRoleAggregation) onRole(e reconcile.Event) {
	before := a.observed[e.Key.Name]
	now := observedRole{}
	if e.Deleted {
		delete(a.observed, e.Key.Name)
	} else {
		now = observedRole{labels: e.Meta.Clone().Labels, selectors: a.selectors(e.Object)}
		a.observed[e.Key.Name] = now
	}
	for name, other := range a.observed {
		concerned := slices.ContainsFunc(other.selectors, func(l selector.Labels) bool {
			return l.Matches(now.labels) || l.Matches(before.labels)
		})
		if concerned || name == e.Key.Name && len(other.selectors) > 0 {
			a.Add(name)
		}
	}
}

// aggregationRule occurs in the JSON of aggregated roles. Searching for it avoids decoding most
// roles.
var aggregationRule = []byte(`"aggregationRule"`)

func (a *ClusterRoleAggregation) selectors(o *meta.Object) []selector.Labels {
	if !bytes.Contains(o.JSON, aggregationRule) {
		return nil
	}
	role, err := a.roles.Decode(o)
	if err != nil {
		a.Log.Error("cannot decode a cluster role", "role", o.Key.Name, "error", err)
		return nil
	}
	return selectorsOf(role)
}

func selectorsOf(role tree.Tree) []selector.Labels {
	var list []selector.Labels
	for _, t := range rbac.AggregationSelectors(role) {
		if l, ok := selector.FromLabelSelector(t); ok {
			list = append(list, l)
		}
	}
	return list
}

func (a *ClusterRoleAggregation) aggregate(ctx context.Context, name string) error {
	o, role, err := a.roles.ReadNamed(ctx, "", name)
	if err != nil || o == nil {
		return err
	}
	selectors := selectorsOf(role)
	if len(selectors) == 0 {
		return nil
	}
	union, err := a.unionRules(ctx, name, selectors)
	if err != nil || tree.SemanticEqual(union, role["rules"]) {
		return err
	}
	// The uid prevents the apply from creating a role that was deleted in the meantime.
	return a.roles.Apply(ctx, o.Key, "", tree.Tree{"metadata": tree.Tree{"uid": o.Meta.UID}, "rules": union})
}

func (a *ClusterRoleAggregation) unionRules(ctx context.Context, name string, selectors []selector.Labels) ([]any, error) {
	union := []any{}
	known := map[string]bool{}
	for _, l := range selectors {
		roles, err := a.roles.List(ctx, request.List{Labels: l})
		if err != nil {
			return nil, err
		}
		for _, o := range roles {
			if o.Key.Name == name {
				continue
			}
			role, err := a.roles.Decode(o)
			if err != nil {
				return nil, err
			}
			for _, rule := range role.List("rules") {
				if text := string(codec.AppendAny(nil, rule)); !known[text] {
					known[text] = true
					union = append(union, rule)
				}
			}
		}
	}
	return union, nil
}
