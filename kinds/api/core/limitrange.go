package core

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// limitRangeStrategy sets defaults when the LimitRange is written, so that users can see the limits
// that their containers will get.
type limitRangeStrategy struct{ schema.DefaultStrategy }

func (limitRangeStrategy) RandomName() bool { return true }

func (limitRangeStrategy) Default(obj tree.Tree) {
	for _, limit := range obj.Object("spec").Objects("limits") {
		if limit.String("type") == "Container" {
			defaultLimits(limit)
		}
	}
}

// defaultLimits sets missing amounts. default falls back to max. defaultRequest falls back to
// default, then to min.
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

func validateRatio(v any, path string, faults *schema.Faults) {
	amounts := tree.Tree{"": v}.Strings("")
	ratio, low, high := amounts[0], amounts[1], amounts[2]
	if quantity.Compare(low, "0") <= 0 {
		return
	}
	if highest := quantity.Float(high) / quantity.Float(low); quantity.Float(ratio) > highest {
		faults.Invalid(path, ratio, fmt.Sprintf("ratio %s is greater than max/min = %f", ratio, highest))
	}
}
