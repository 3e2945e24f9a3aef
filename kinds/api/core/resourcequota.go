package core

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/api/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// resourceQuotaStrategy keeps the status in writes of the main resource: a client that resets the
// usage could exceed its limits.
type resourceQuotaStrategy struct {
	schema.DefaultStrategy
	schema.KeepStatus
}

// Validate checks the status like the spec, from which the controller copies hard.
func (resourceQuotaStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec, status := obj.Object("spec"), obj.Object("status")
	validateQuotaResources(spec.Object("hard"), "spec.hard", faults)
	for _, name := range []string{"hard", "used"} {
		validateQuotaResources(status.Object(name), "status."+name, faults)
	}
	validateScopes(spec, "spec.scopes", faults)
	validateScopeSelector(spec, "spec.scopeSelector.matchExpressions", faults)
}

// validateQuotaResources accepts any qualified resource name and counts such as
// count/deployments.apps, so that custom resources can be limited.
func validateQuotaResources(amounts tree.Tree, path string, faults *schema.Faults) {
	for _, name := range amounts.SortedKeys() {
		at := tree.KeyPath(path, name)
		resourcelist.ValidateQuotaName(name, at, faults)
		resourcelist.ValidateQuantity(amounts, name, at, faults)
	}
}

// quotaScopes maps scopes to the standard resources that they can restrict. Quotas for others would
// count nothing and are rejected.
var quotaScopes = map[string][]string{
	"BestEffort":                {"pods"},
	"CrossNamespacePodAffinity": podResources,
	"NotBestEffort":             podResources,
	"NotTerminating":            podResources,
	"PriorityClass":             podResources,
	"Terminating":               podResources,
	"VolumeAttributesClass":     {"persistentvolumeclaims", "requests.storage"},
}

// podResources are the resources of Pods that quotas measure. All scopes except
// VolumeAttributesClass select Pods.
var podResources = append([]string{"pods"}, resourcelist.Compute...)

// conflictingScopes are pairs of scopes that exclude each other, so a quota with both would never
// be used.
var conflictingScopes = [][2]string{{"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"}}

// validateScopes checks spec.scopes, the older form of a scopeSelector with operator Exists. It
// reports an unknown scope once. As in kube-apiserver, the value of both faults is the whole list.
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

// validateScope reports the resources of a quota that a known scope does not apply to. value is the
// value in the fault. Non-standard resources are accepted, because their scopes are unknown.
func validateScope(spec tree.Tree, scope, path string, value any, faults *schema.Faults) {
	covered, known := quotaScopes[scope]
	for _, name := range spec.Object("hard").SortedKeys() {
		if known && resourcelist.IsStandardForQuota(name) && !slices.Contains(covered, name) {
			faults.Invalid(path, value, "unsupported scope applied to resource")
		}
	}
}

// validateConflicts checks scopes or a scopeSelector. The two forms are not compared: a Pod must
// match both, which may be intended.
func validateConflicts(scopes []string, path string, value any, faults *schema.Faults) {
	for _, pair := range conflictingScopes {
		if slices.Contains(scopes, pair[0]) && slices.Contains(scopes, pair[1]) {
			faults.Invalid(path, value, "conflicting scopes")
		}
	}
}

// validateScopeSelector checks the expressions over scopes. As in kube-apiserver, the paths of its
// faults have no index.
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

// validateScopeOperator allows operators with values only for the two scopes with names,
// PriorityClass and VolumeAttributesClass. The messages have 'Exist' and names of constants, as in
// kube-apiserver.
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

// ValidateUpdate keeps the set of scopes, with which the usage was counted. Order and duplicates
// may change. Strings returns copies, so sorting is safe.
func (resourceQuotaStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	now, was := spec.Strings("scopes"), old.Object("spec").Strings("scopes")
	slices.Sort(now)
	slices.Sort(was)
	if !slices.Equal(slices.Compact(now), slices.Compact(was)) {
		faults.Invalid("spec.scopes", spec["scopes"], "field is immutable")
	}
}
