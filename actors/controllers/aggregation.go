package controllers

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authz/rbac"
)

// ClusterRoleAggregation fills the rules of cluster roles that gather those of others: of all that one
// of their selectors selects, in the order of the selectors and then of the names, each rule
// once. Nobody else's rules stay in them.
type ClusterRoleAggregation struct {
	store    Store
	kind     *schema.Kind
	logger   *slog.Logger
	observed map[string]observedRole // by name; of the one goroutine that follows the roles
	queue    *workqueue[string]      // names of roles that gather
}

// observedRole is what a change of a role is held against.
type observedRole struct {
	labels    meta.Labels
	selectors []selector.Labels // of the roles whose rules it gathers; nil for an ordinary one
}

// NewClusterRoleAggregation makes the controller for the kinds of a catalogue.
func NewClusterRoleAggregation(store Store, kinds *catalog.Catalog, logger *slog.Logger) *ClusterRoleAggregation {
	n := kinds.Naming()
	return &ClusterRoleAggregation{
		store: store, logger: logger, observed: map[string]observedRole{}, queue: newWorkqueue[string](),
		kind: kinds.ByGVK(meta.GroupVersionKind{Group: n.Group("rbac.authorization"), Version: "v1", Kind: "ClusterRole"}),
	}
}

// Run works until the context ends.
func (a *ClusterRoleAggregation) Run(ctx context.Context) {
	if a.kind == nil {
		return // switched off
	}
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { RunInformer(ctx, a.store, a.kind, eventHandlerFunc(a.onRole)) })
	a.queue.run(ctx, a.aggregate, func(name string, err error) {
		a.logger.Warn("a cluster role does not gather what it should", "role", name, "error", err)
	})
}

// onRole makes the roles wait that a change concerns: that which has changed, and all that
// gather it or did so before.
func (a *ClusterRoleAggregation) onRole(o *meta.Object, gone bool) {
	before := a.observed[o.Key.Name]
	now := observedRole{}
	if gone {
		delete(a.observed, o.Key.Name)
	} else {
		now = observedRole{labels: o.Meta.Clone().Labels, selectors: a.selectors(o)}
		a.observed[strings.Clone(o.Key.Name)] = now
	}
	for name, other := range a.observed {
		concerned := slices.ContainsFunc(other.selectors, func(l selector.Labels) bool {
			return l.Matches(now.labels) || l.Matches(before.labels)
		})
		if concerned || name == o.Key.Name && len(other.selectors) > 0 {
			a.queue.add(name)
		}
	}
}

var aggregationRule = []byte(`"aggregationRule"`)

// selectors are those of the roles that a role gathers.
func (a *ClusterRoleAggregation) selectors(o *meta.Object) []selector.Labels {
	if !bytes.Contains(o.JSON, aggregationRule) {
		return nil
	}
	role, err := codec.DecodeStored(a.kind.Message, o.JSON)
	if err != nil {
		a.logger.Error("a cluster role cannot be read", "role", o.Key.Name, "error", err)
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

// aggregationManager is the manager of the rules that are gathered.
const aggregationManager = "clusterrole-aggregation-controller"

// aggregate gives a role the rules of those that it gathers.
func (a *ClusterRoleAggregation) aggregate(ctx context.Context, name string) error {
	key := meta.Key{GroupResource: a.kind.Storage, Name: name}
	o, err := a.store.Get(ctx, request.Get{Kind: a.kind, Key: key})
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	role, err := codec.DecodeStored(a.kind.Message, o.JSON)
	if err != nil {
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
	// With its uid, a role that has gone meanwhile is not made anew.
	config := tree.Tree{
		"apiVersion": a.kind.APIVersion(), "kind": a.kind.Kind,
		"metadata": tree.Tree{"name": name, "uid": o.Meta.UID}, "rules": union,
	}
	_, err = a.store.Mutate(ctx, request.Mutation{
		Verb: request.Patch, PatchType: request.ApplyPatch, Kind: a.kind, Key: key, Object: config, Force: true, FieldManager: aggregationManager,
	})
	return err
}

// unionRules is the rules of all that is selected, but for the role called name itself.
func (a *ClusterRoleAggregation) unionRules(ctx context.Context, name string, selectors []selector.Labels) ([]any, error) {
	union := []any{}
	known := map[string]bool{}
	for _, l := range selectors {
		listing, err := a.store.List(ctx, request.List{Kind: a.kind, Labels: l})
		if err != nil {
			return nil, err
		}
		for _, o := range listing.Items {
			if o.Key.Name == name {
				continue
			}
			role, err := codec.DecodeStored(a.kind.Message, o.JSON)
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
