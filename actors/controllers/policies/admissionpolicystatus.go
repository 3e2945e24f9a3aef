package policies

import (
	"cmp"
	"context"
	"slices"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// AdmissionPolicyStatus type-checks the expressions of ValidatingAdmissionPolicies against the
// kinds that they match. It writes the warnings to the policy's status, once per generation.
type AdmissionPolicyStatus struct {
	*reconcile.Controller[string]
	policies reconcile.Client
}

func NewAdmissionPolicyStatus(env *reconcile.Env) *AdmissionPolicyStatus {
	p := &AdmissionPolicyStatus{policies: env.Client("admissionregistration.platform.io", "v1", "ValidatingAdmissionPolicy").As("validatingadmissionpolicy-status-controller")}
	p.Controller = reconcile.New(env, "", p.check, "cannot check the types of an admission policy", "policy")
	p.Watch(p.policies, reconcile.Updates(func(o *meta.Object) { p.Add(o.Key.Name) }))
	return p
}

// check checks the current generation of a policy. It applies the status with force, because this
// controller owns it.
func (p *AdmissionPolicyStatus) check(ctx context.Context, name string) error {
	o, stored, err := p.policies.ReadNamed(ctx, "", name)
	if err != nil || o == nil {
		return err
	}
	if observed, _ := stored.Object("status").Int("observedGeneration"); o.Meta.Generation <= observed {
		return nil
	}
	spec := stored.Object("spec")
	checking := tree.Tree{}
	found, err := p.Kinds.Expressions().CheckTypes(ctx, spec, p.checked(ctx, spec), p.paramsType(spec))
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
	// The uid prevents the apply from recreating a policy that was deleted in the meantime.
	return reconcile.Except(p.policies.Apply(ctx, o.Key, "status", tree.Tree{
		"metadata": tree.Tree{"uid": o.Meta.UID}, "status": tree.Tree{"observedGeneration": o.Meta.Generation, "typeChecking": checking},
	}), reconcile.IsNotFound)
}

// maxCheckedKinds limits the kinds checked per rule. Once a rule reaches it, further rules are not
// checked. maxPolicyKinds limits the kinds checked per policy.
const (
	maxCheckedKinds = 10
	maxPolicyKinds  = 100
)

// checked returns the kinds that a policy's rules name without wildcards, in sorted order.
func (p *AdmissionPolicyStatus) checked(ctx context.Context, spec tree.Tree) []expressions.Checked {
	// Read the kinds once, so that all rules are checked against the same catalog.
	kinds, found := p.Kinds.Kinds(), map[*schema.Kind]bool{}
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

// addKinds adds the kinds that a rule matches to found and returns how many. It iterates over
// kinds, because a rule's combinations of groups, versions and resources are unbounded.
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

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

func (p *AdmissionPolicyStatus) paramsType(spec tree.Tree) *cel.Type {
	of := spec.Object("paramKind")
	k := p.Kinds.ByGVK(meta.ParseGVK(of.String("apiVersion"), of.String("kind")))
	if k == nil {
		return nil
	}
	return p.typeOf(k)
}

func (p *AdmissionPolicyStatus) typeOf(k *schema.Kind) *cel.Type {
	return crd.TypeOf(p.Naming, k, "@"+k.APIVersion()+"."+k.Kind)
}
