package controllers

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/custom"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// PolicyStatus checks the expressions of validating admission policies against the types of the objects that they are about, and
// writes what is wrong into the status of the policy, once for each generation of it.
type PolicyStatus struct {
	store  Store
	kinds  *catalog.Catalog
	kind   *schema.Kind
	logger *slog.Logger
	queue  *reconcile.Workqueue[string]
}

// NewPolicyStatus returns the controller for the kinds of a catalogue.
func NewPolicyStatus(store Store, kinds *catalog.Catalog, logger *slog.Logger) *PolicyStatus {
	group := kinds.Naming().Group("admissionregistration")
	return &PolicyStatus{
		store: store, kinds: kinds, logger: logger, queue: reconcile.NewWorkqueue[string](),
		kind: kinds.ByGVK(meta.GroupVersionKind{Group: group, Version: "v1", Kind: "ValidatingAdmissionPolicy"}),
	}
}

// Run runs the controller until the context ends.
func (p *PolicyStatus) Run(ctx context.Context) {
	if p.kind == nil {
		return // the group is disabled
	}
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		reconcile.RunInformer(ctx, p.store, p.kind, reconcile.UpdateHandlerFunc(func(o *meta.Object) { p.queue.Add(o.Key.Name) }))
	})
	p.queue.Run(ctx, p.check, func(name string, err error) {
		p.logger.Warn("the types of an admission policy are not checked", "policy", name, "error", err)
	})
}

// policyStatusManager is the field manager that owns the status.
const policyStatusManager = "validatingadmissionpolicy-status-controller"

// check checks one policy, if that has not been done yet.
// It forces its apply: the status is nobody else's to write.
func (p *PolicyStatus) check(ctx context.Context, name string) error {
	key := meta.Key{GroupResource: p.kind.Storage, Name: name}
	o, err := p.store.Get(ctx, request.Get{Kind: p.kind, Key: key})
	if reconcile.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	stored, err := codec.DecodeStored(p.kind.Message(), o.JSON)
	if err != nil {
		return err
	}
	// Our own write of the status comes back as an event, too, and ends here.
	if observed, _ := stored.Object("status").Int("observedGeneration"); o.Meta.Generation <= observed {
		return nil
	}
	spec := stored.Object("spec")
	checking := tree.Tree{}
	found, err := p.kinds.Expressions().CheckTypes(ctx, spec, p.checked(ctx, spec), p.paramsType(spec))
	if err != nil {
		return err
	}
	var warnings []any
	for _, w := range found {
		warnings = append(warnings, tree.Tree{"fieldRef": w.FieldRef, "warning": w.Text})
	}
	if len(warnings) > 0 {
		checking["expressionWarnings"] = warnings
	}
	_, err = p.store.Mutate(ctx, request.Mutation{
		Kind: p.kind, Key: key, Subresource: "status", FieldManager: policyStatusManager,
		Change: request.Apply{Config: tree.Tree{
			"apiVersion": p.kind.APIVersion(), "kind": p.kind.Kind, "metadata": tree.Tree{"name": name, "uid": o.Meta.UID},
			"status": tree.Tree{"observedGeneration": o.Meta.Generation, "typeChecking": checking},
		}, Force: true},
	})
	if reconcile.IsNotFound(err) {
		return nil
	}
	return err
}

// maxCheckedKinds bounds the kinds that are checked for one rule; a rule that reaches it is the last one.
// maxPolicyKinds bounds those of all rules of a policy.
const (
	maxCheckedKinds = 10
	maxPolicyKinds  = 100
)

// checked are the kinds that the rules of a policy name, those without wildcards, in the order of their names.
func (p *PolicyStatus) checked(ctx context.Context, spec tree.Tree) []expressions.Checked {
	// The kinds are read once for all rules, so that the rules are checked against the same catalogue.
	kinds, found := p.kinds.Kinds(), map[*schema.Kind]bool{}
	for _, rule := range spec.Object("matchConstraints").Objects("resourceRules") {
		if ctx.Err() != nil || addKinds(kinds, rule, found) == maxCheckedKinds || len(found) >= maxPolicyKinds {
			break
		}
	}
	var all []expressions.Checked
	for k := range found {
		all = append(all, expressions.Checked{Kind: k.GroupVersionKind, Type: p.typeOf(k)})
	}
	slices.SortFunc(all, func(a, b expressions.Checked) int {
		return cmp.Or(cmp.Compare(a.Kind.Group, b.Kind.Group), cmp.Compare(a.Kind.Version, b.Kind.Version), cmp.Compare(a.Kind.Kind, b.Kind.Kind))
	})
	return all
}

// addKinds adds those of some kinds, which are in order, that a rule names, and returns how many it names. A rule has as
// many combinations of groups, versions and resources as somebody likes, so each kind is looked up in the rule and not
// each combination among the kinds.
func addKinds(kinds []*schema.Kind, rule tree.Tree, found map[*schema.Kind]bool) (named int) {
	groups, versions, resources := setOf(rule.Strings("apiGroups")), setOf(rule.Strings("apiVersions")), setOf(rule.Strings("resources"))
	if groups["*"] || versions["*"] {
		return 0
	}
	for _, k := range kinds {
		if named == maxCheckedKinds {
			break
		}
		if groups[k.Group] && versions[k.Version] && resources[k.Resource] {
			found[k] = true
			named++
		}
	}
	return named
}

// setOf makes a set of names.
func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// paramsType is the type of the parameters of a policy; nil if there are none, or it is not known.
func (p *PolicyStatus) paramsType(spec tree.Tree) *cel.Type {
	of := spec.Object("paramKind")
	group, version, both := strings.Cut(of.String("apiVersion"), "/")
	if !both {
		group, version = "", group
	}
	k := p.kinds.ByGVK(meta.GroupVersionKind{Group: group, Version: version, Kind: of.String("kind")})
	if k == nil {
		return nil
	}
	return p.typeOf(k)
}

// typeOf is the type of the objects of a kind.
func (p *PolicyStatus) typeOf(k *schema.Kind) *cel.Type {
	return custom.TypeOf(p.kinds.Naming(), k, "@"+k.APIVersion()+"."+k.Kind)
}
