package core

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func resourceQuotaRules() schema.Rules {
	return schema.Rules{
		Prepare:        family.KeepStatus,
		Validate:       validateQuota,
		ValidateUpdate: validateQuotaUpdate,
	}
}

func validateQuota(obj tree.Tree, faults *schema.Faults) {
	spec, status := obj.Object("spec"), obj.Object("status")
	validateQuotaResources(spec.Object("hard"), "spec.hard", faults)
	for _, name := range []string{"hard", "used"} {
		validateQuotaResources(status.Object(name), "status."+name, faults)
	}
	validateScopes(spec, "spec.scopes", faults)
	validateScopeSelector(spec, "spec.scopeSelector.matchExpressions", faults)
}

func validateQuotaResources(amounts tree.Tree, path string, faults *schema.Faults) {
	for _, name := range amounts.SortedKeys() {
		at := tree.KeyPath(path, name)
		resourcelist.ValidateQuotaName(name, at, faults)
		resourcelist.ValidateQuantity(amounts, name, at, faults)
	}
}

// quotaScopes are the scopes, with the standard resources that each can restrict.
var quotaScopes = map[string][]string{
	"BestEffort":                {"pods"},
	"CrossNamespacePodAffinity": podResources,
	"NotBestEffort":             podResources,
	"NotTerminating":            podResources,
	"PriorityClass":             podResources,
	"Terminating":               podResources,
	"VolumeAttributesClass":     {"persistentvolumeclaims", "requests.storage"},
}

var podResources = append([]string{"pods"}, resourcelist.Compute...)

// conflictingScopes are pairs of scopes that exclude each other.
var conflictingScopes = [][2]string{{"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"}}

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
// value in the fault.
func validateScope(spec tree.Tree, scope, path string, value any, faults *schema.Faults) {
	covered, known := quotaScopes[scope]
	for _, name := range spec.Object("hard").SortedKeys() {
		if known && resourcelist.IsStandardForQuota(name) && !slices.Contains(covered, name) {
			faults.Invalid(path, value, "unsupported scope applied to resource")
		}
	}
}

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

func validateScopeOperator(e tree.Tree, scope, path string, faults *schema.Faults) {
	operator, values := e.String("operator"), e.List("values")
	valued := scope == "PriorityClass" || scope == "VolumeAttributesClass"
	if _, known := quotaScopes[scope]; known && !valued && operator != "Exists" {
		faults.Invalid(path+".operator", operator, "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "+
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

// validateQuotaUpdate keeps the set of scopes.
func validateQuotaUpdate(obj, old tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	now, was := spec.Strings("scopes"), old.Object("spec").Strings("scopes")
	slices.Sort(now)
	slices.Sort(was)
	if !slices.Equal(slices.Compact(now), slices.Compact(was)) {
		faults.Invalid("spec.scopes", spec["scopes"], "field is immutable")
	}
}
