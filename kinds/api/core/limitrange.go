package core

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/api/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// limitRangeStrategy sets defaults when the LimitRange is written, not when it is applied to a Pod,
// so that users see what their containers will get.
type limitRangeStrategy struct{ schema.DefaultStrategy }

func (limitRangeStrategy) RandomName() bool { return true }

func (limitRangeStrategy) Default(obj tree.Tree) {
	for _, limit := range obj.Object("spec").Objects("limits") {
		if limit.String("type") == "Container" {
			defaultLimits(limit)
		}
	}
}

// defaultLimits sets default to max, and defaultRequest to default or else min. The order of the
// fills is their precedence, because existing values stay. Only containers have defaults.
func defaultLimits(limit tree.Tree) {
	fill := func(name, from string) {
		for key, q := range limit.Object(from) {
			if to := limit.EnsureObject(name); to[key] == nil {
				to[key] = q
			}
		}
	}
	fill("default", "max")
	fill("defaultRequest", "default")
	fill("defaultRequest", "min")
}

// limitResourceLists are the quantity fields of a limit, in the order of faults.
var limitResourceLists = []string{"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"}

// validateLimit checks one entry of spec.limits. Only Pods and containers need the strict names of
// container resources.
func validateLimit(limit tree.Tree, path string, faults *schema.Faults) {
	kind := limit.String("type")
	names := tree.Tree{}
	for _, field := range limitResourceLists {
		amounts := limit.Object(field)
		if kind == "Pod" && len(amounts) > 0 && (field == "default" || field == "defaultRequest") {
			faults.Forbidden(path+"."+field, "may not be specified when `type` is 'Pod'")
			continue
		}
		for _, name := range amounts.SortedKeys() {
			names[name] = true
			at := tree.KeyPath(path+"."+field, name)
			if kind == "Pod" || kind == "Container" {
				resourcelist.ValidateContainerName(name, at, faults)
			} else {
				resourcelist.ValidateName(name, at, faults)
			}
		}
	}
	// An entry for claims without a storage bound would have no effect. The path ends in
	// .limits, which is not a field, as in kube-apiserver.
	if kind == "PersistentVolumeClaim" && !limit.Object("min").Has("storage") && !limit.Object("max").Has("storage") {
		faults.Required(path+".limits", "either minimum or maximum storage value is required, but neither was provided")
	}
	for _, name := range names.SortedKeys() {
		validateLimitOrder(limit, kind, name, path, faults)
	}
}

// limitComparisons are pairs of fields where low may not exceed high, in the order of faults. A
// fault is reported at the field at, with the value of valueOf. In the fifth row they differ, as in
// kube-apiserver.
var limitComparisons = []struct{ low, high, at, valueOf, words string }{
	{"min", "max", "min", "min", "min value %s is greater than max value %s"},
	{"min", "defaultRequest", "defaultRequest", "defaultRequest", "min value %s is greater than default request value %s"},
	{"defaultRequest", "max", "defaultRequest", "defaultRequest", "default request value %s is greater than max value %s"},
	{"defaultRequest", "default", "defaultRequest", "defaultRequest", "default request value %s is greater than default limit value %s"},
	{"min", "default", "default", "min", "min value %s is greater than default value %s"},
	{"default", "max", "default", "max", "default value %s is greater than max value %s"},
}

// validateLimitOrder compares the amounts of one resource across the fields of an entry. It skips
// fields that are forbidden for Pods and already reported.
func validateLimitOrder(limit tree.Tree, kind, name, path string, faults *schema.Faults) {
	amount := func(field string) string {
		if kind == "Pod" && (field == "default" || field == "defaultRequest") {
			return ""
		}
		return limit.Object(field).String(name)
	}
	for _, o := range limitComparisons {
		low, high := amount(o.low), amount(o.high)
		if low != "" && high != "" && quantity.Compare(low, high) > 0 {
			faults.Invalid(tree.KeyPath(path+"."+o.at, name), amount(o.valueOf), fmt.Sprintf(o.words, low, high))
		}
	}
	validateRatio(amount("maxLimitRequestRatio"), amount("min"), amount("max"), tree.KeyPath(path+".maxLimitRequestRatio", name), faults)
	// Huge pages and devices cannot be overcommitted: requests must equal limits, so other
	// defaults would make every Pod of the namespace invalid.
	given, asked := amount("default"), amount("defaultRequest")
	if given != "" && asked != "" && !resourcelist.IsOvercommitAllowed(name) && quantity.Compare(given, asked) != 0 {
		faults.Invalid(tree.KeyPath(path+".defaultRequest", name), asked,
			fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", given, asked, name))
	}
}

// validateRatio checks that maxLimitRequestRatio is at least 1, and at most max divided by min. A
// min of zero sets no upper bound.
func validateRatio(ratio, low, high, path string, faults *schema.Faults) {
	if ratio == "" {
		return
	}
	if quantity.Compare(ratio, "1") < 0 {
		faults.Invalid(path, ratio, fmt.Sprintf("ratio %s is less than 1", ratio))
	}
	if low == "" || high == "" || quantity.Compare(low, "0") <= 0 {
		return
	}
	if highest := quantity.Float(high) / quantity.Float(low); quantity.Float(ratio) > highest {
		faults.Invalid(path, ratio, fmt.Sprintf("ratio %s is greater than max/min = %f", ratio, highest))
	}
}
