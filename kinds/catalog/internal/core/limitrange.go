package core

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/catalog/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// limitRangeStrategy fills the defaults when the LimitRange is written, not when it is applied to a
// Pod, so that the admission plugin reads finished values and users see what will be given to their
// containers.
type limitRangeStrategy struct{ schema.DefaultStrategy }

func (limitRangeStrategy) RandomName() bool { return true }

func (limitRangeStrategy) Default(obj tree.Tree) {
	for _, limit := range obj.Object("spec").Objects("limits") {
		if limit.String("type") == "Container" {
			defaultLimits(limit)
		}
	}
}

// defaultLimits sets default to max, and defaultRequest to default or, without one, to min. The order of
// the three fills is their precedence, since a value that is present is never replaced. Only containers
// have defaults: a Pod's amounts are the sums of its containers'.
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

// limitResourceLists are the fields of a limit that hold quantities by resource. The order is that of the
// faults in a Status.
var limitResourceLists = []string{"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"}

// validateLimit checks one entry of spec.limits. The stricter names of container resources hold for Pods
// and containers only: an entry for claims or for an extension's type may limit any qualified name.
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
	// An entry for claims that bounds no storage would do nothing. The path ends in .limits, which is no
	// field: clients know it like that.
	if kind == "PersistentVolumeClaim" && !limit.Object("min").Has("storage") && !limit.Object("max").Has("storage") {
		faults.Required(path+".limits", "either minimum or maximum storage value is required, but neither was provided")
	}
	for _, name := range names.SortedKeys() {
		validateLimitOrder(limit, kind, name, path, faults)
	}
}

// limitComparisons are pairs of fields of which low may not exceed high. A fault is reported at the field
// at, with the value of the field valueOf. The table is in the order of the faults. In its fifth row the
// value is that of min although the path says default, as clients know it.
var limitComparisons = []struct{ low, high, at, valueOf, words string }{
	{"min", "max", "min", "min", "min value %s is greater than max value %s"},
	{"min", "defaultRequest", "defaultRequest", "defaultRequest", "min value %s is greater than default request value %s"},
	{"defaultRequest", "max", "defaultRequest", "defaultRequest", "default request value %s is greater than max value %s"},
	{"defaultRequest", "default", "defaultRequest", "defaultRequest", "default request value %s is greater than default limit value %s"},
	{"min", "default", "default", "min", "min value %s is greater than default value %s"},
	{"default", "max", "default", "max", "default value %s is greater than max value %s"},
}

// validateLimitOrder compares the amounts of one resource over the fields of an entry. Fields that are
// forbidden for Pods are skipped, since they have been reported already.
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
	// Huge pages and devices cannot be overcommitted: a container must request exactly what it is limited
	// to, and a default that breaks this would make every Pod of the namespace invalid.
	given, asked := amount("default"), amount("defaultRequest")
	if given != "" && asked != "" && !resourcelist.IsOvercommitAllowed(name) && quantity.Compare(given, asked) != 0 {
		faults.Invalid(tree.KeyPath(path+".defaultRequest", name), asked,
			fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", given, asked, name))
	}
}

// validateRatio checks maxLimitRequestRatio: at least 1, and at most max divided by min. The quotient is a
// float, as it appears in the message. A min of zero gives no upper bound, instead of a division by zero.
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
