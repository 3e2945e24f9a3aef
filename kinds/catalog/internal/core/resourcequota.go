package core

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// resourceQuotaStrategy keeps the status in writes of the main resource: used is counted by
// admission and by the quota controller, and a client that could reset it would create beyond its
// limits.
type resourceQuotaStrategy struct {
	schema.DefaultStrategy
	family.KeepStatus
}

// Validate checks the status with the same rules as the spec, because hard is copied from there by
// the controller.
func (resourceQuotaStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec, status := obj.Object("spec"), obj.Object("status")
	validateQuotaResources(spec.Object("hard"), "spec.hard", faults)
	for _, name := range []string{"hard", "used"} {
		validateQuotaResources(status.Object(name), "status."+name, faults)
	}
	validateScopes(spec, "spec.scopes", faults)
	validateScopeSelector(spec, "spec.scopeSelector.matchExpressions", faults)
}

// validateQuotaResources accepts names of any qualified resource and counts such as count/deployments.apps,
// so that custom resources can be limited too.
func validateQuotaResources(amounts tree.Tree, path string, faults *schema.Faults) {
	for _, name := range amounts.SortedKeys() {
		at := tree.KeyPath(path, name)
		resourcelist.ValidateQuotaName(name, at, faults)
		resourcelist.ValidateQuantity(amounts, name, at, faults)
	}
}

// quotaScopes are the scopes, with the standard resources that each can restrict. A quota for a resource
// that its scope never measures would count nothing and look as if it was enforced, so it is refused.
var quotaScopes = map[string][]string{
	"BestEffort":                {"pods"},
	"CrossNamespacePodAffinity": podResources,
	"NotBestEffort":             podResources,
	"NotTerminating":            podResources,
	"PriorityClass":             podResources,
	"Terminating":               podResources,
	"VolumeAttributesClass":     {"persistentvolumeclaims", "requests.storage"},
}

// podResources are what a quota can measure of Pods. Scopes are predicates over Pods, all but
// VolumeAttributesClass, which selects claims.
var podResources = append([]string{"pods"}, resourcelist.Compute...)

// conflictingScopes are pairs of scopes that exclude each other. No Pod is in both, so such a quota would
// never be used up.
var conflictingScopes = [][2]string{{"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"}}

// validateScopes checks spec.scopes, the older and shorter form of a scopeSelector with the operator
// Exists. An unknown scope is reported once even if it is listed twice; both faults of one scope name the
// whole list, as clients expect.
func validateScopes(spec tree.Tree, path string, faults *schema.Faults) {
	scopes := spec.Strings("scopes")
	seen := rules.Seen{}
	for _, scope := range scopes {
		if seen.Repeats(scope) {
			continue
		}
		validateScope(spec, scope, path, spec["scopes"], faults)
		if _, known := quotaScopes[scope]; !known {
			faults.Invalid(path, spec["scopes"], "unsupported scope")
		}
	}
	validateConflicts(scopes, path, spec["scopes"], faults)
}

// validateScope reports the resources of a quota that a known scope does not apply to. value is the value
// in the fault. Resources that are not standard are let pass: what measures them is not known here.
func validateScope(spec tree.Tree, scope, path string, value any, faults *schema.Faults) {
	covered, known := quotaScopes[scope]
	for _, name := range spec.Object("hard").SortedKeys() {
		if known && resourcelist.IsStandardForQuota(name) && !slices.Contains(covered, name) {
			faults.Invalid(path, value, "unsupported scope applied to resource")
		}
	}
}

// validateConflicts serves scopes and scopeSelector alike. Scopes of the two forms are not compared with
// each other: a Pod must match both forms, which may be meant.
func validateConflicts(scopes []string, path string, value any, faults *schema.Faults) {
	for _, pair := range conflictingScopes {
		if slices.Contains(scopes, pair[0]) && slices.Contains(scopes, pair[1]) {
			faults.Invalid(path, value, "conflicting scopes")
		}
	}
}

// validateScopeSelector checks the expressions over scopes. The paths of its faults have no index, as
// clients expect.
func validateScopeSelector(spec tree.Tree, path string, faults *schema.Faults) {
	selector := spec.Object("scopeSelector")
	var scopes []string
	seen := rules.Seen{}
	for _, e := range selector.Objects("matchExpressions") {
		scope := e.String("scopeName")
		scopes = append(scopes, scope)
		if _, known := quotaScopes[scope]; !known {
			faults.Invalid(path+".scopeName", scope, "unsupported scope")
		}
		if !seen.Repeats(scope) {
			validateScope(spec, scope, path, selector, faults)
		}
		validateScopeOperator(e, scope, path, faults)
	}
	validateConflicts(scopes, path, spec["scopes"], faults)
}

// validateScopeOperator restricts operators with values to the two scopes that have any: a priority class
// and a volume attributes class have names, the other scopes are true or false. In the messages, 'Exist'
// and the names of constants are what clients have always seen.
func validateScopeOperator(e tree.Tree, scope, path string, faults *schema.Faults) {
	operator, values := e.String("operator"), e.List("values")
	valued := scope == "PriorityClass" || scope == "VolumeAttributesClass"
	if _, known := quotaScopes[scope]; known && !valued && operator != "Exists" {
		faults.Invalid(path+".operator", operator, "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "+
			"ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity")
	}
	switch operator {
	case "In", "NotIn":
		if len(values) == 0 {
			faults.Required(path+".values", "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")
		}
	case "Exists", "DoesNotExist":
		if len(values) > 0 {
			faults.Invalid(path+".values", values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector")
		}
	default:
		faults.Invalid(path+".operator", operator, "not a valid selector operator")
	}
}

// ValidateUpdate keeps the set of scopes. used was counted with these scopes. The order and
// repetitions mean nothing, so they may change. The slices are the copies that Strings makes, so
// sorting them leaves the objects as they are.
func (resourceQuotaStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	now, was := spec.Strings("scopes"), old.Object("spec").Strings("scopes")
	slices.Sort(now)
	slices.Sort(was)
	if !slices.Equal(slices.Compact(now), slices.Compact(was)) {
		faults.Invalid("spec.scopes", spec["scopes"], "field is immutable")
	}
}
