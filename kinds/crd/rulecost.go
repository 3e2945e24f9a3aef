package crd

import (
	"fmt"
	"math"
	"slices"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/schema"
)

type ruleCost struct {
	path string
	cost uint64
}

type totalCost struct {
	sum           uint64
	mostExpensive []ruleCost // a few of the most expensive rules
}

// add adds the cost of a rule, without overflow, and records the rule for error messages. It does
// not record rules below a hundredth of the limit, whose removal would not help.
func (t *totalCost) add(path string, cost uint64) {
	t.sum += min(cost, math.MaxUint64-t.sum)
	if cost < cel.EstimatedDefinitionLimit/100 {
		return
	}
	const listed = 4
	t.mostExpensive = append(t.mostExpensive, ruleCost{path, cost})
	slices.SortStableFunc(t.mostExpensive, func(a, b ruleCost) int {
		switch {
		case a.cost > b.cost:
			return -1
		case a.cost < b.cost:
			return 1
		}
		return 0
	})
	t.mostExpensive = t.mostExpensive[:min(len(t.mostExpensive), listed)]
}

func (t *totalCost) report(name, path string, faults *schema.Faults) {
	if t.sum <= cel.EstimatedDefinitionLimit {
		return
	}
	for _, r := range t.mostExpensive {
		faults.Forbidden(r.path, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema")
	}
	faults.Forbidden(path, costMessage(name+" estimated rule cost total for entire OpenAPIv3 schema", t.sum, cel.EstimatedDefinitionLimit))
}

func costMessage(what string, cost, limit uint64) string {
	factor := float64(cost) / float64(limit)
	text := fmt.Sprintf("%.1fx", factor)
	switch {
	case factor > 100:
		text = "more than 100x"
	case factor < 1.5: // would otherwise be formatted as 1.0
		text = fmt.Sprintf("%fx", factor)
	}
	return fmt.Sprintf("%s exceeds budget by factor of %s (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)", what, text)
}

// A cardinality is the maximum number of values to which one part of a schema applies.
type cardinality struct {
	most    uint64
	limited bool // false if limited only by the request size
}

// of returns the maximum number of evaluations of an expression on values of type t. Without a
// limit in the schema, this is the number of smallest possible values in a request.
func (c cardinality) of(t *cel.Type) uint64 {
	if c.limited || t == nil {
		return c.most
	}
	return t.MostPerRequest()
}

// below returns the cardinality of a node's child values. For example, if a map has maxProperties
// 10 and contains lists with maxItems 100, a rule on the list items runs up to 1000 times.
func (c cardinality) below(n *node) cardinality {
	limit := int64(1)
	switch {
	case n.kind == "object" && n.additional != nil:
		if n.maxProperties == nil {
			return cardinality{}
		}
		limit = *n.maxProperties
	case n.kind == "array":
		if n.maxItems == nil {
			return cardinality{}
		}
		limit = *n.maxItems
	}
	return cardinality{times(c.most, uint64(max(limit, 0))), c.limited}
}

func times(a, b uint64) uint64 {
	if a != 0 && math.MaxUint64/a < b {
		return math.MaxUint64
	}
	return a * b
}
