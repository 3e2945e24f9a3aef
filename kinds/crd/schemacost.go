package crd

import (
	"fmt"
	"math"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A schemaCost is the maximum cost of validating a value, in total and per byte of its JSON.
type schemaCost struct{ perByte, total float64 }

const (
	// maxCost limits the estimated cost of a schema. It exceeds the limit for objects
	// (schema.ValidationBudget), because estimates assume the most expensive object.
	maxCost = 10 * schema.ValidationBudget
	// estimatedBytes is the JSON size of objects that estimates assume, in bytes.
	estimatedBytes = 3 << 20
	// valueCost is the cost of a value's own evaluators. A value takes at least two bytes of JSON,
	// including the separator.
	valueCost = 4
)

// CheckCost reports an error for the innermost schema at or below path against which validation
// would be too expensive.
func (c *Compiler) CheckCost(s tree.Tree, path string, faults *schema.Faults) {
	costChecker{faults}.cost(c.extensions.compile(s), path)
}

type costChecker struct{ faults *schema.Faults }

// cost estimates the cost of the schema at path. It returns 0 after it reports a schema, so that
// the enclosing schemas are not reported too.
func (c costChecker) cost(n *node, path string) schemaCost {
	own := float64(valueCost + len(n.required)/4 + len(n.listKeys))
	all, size := schemaCost{own / 2, own}, float64(estimatedBytes)
	if n.kind == "string" {
		const maxBytes = 4 // per character
		size = min(size, maxBytes*atMost(n.maxLength))
	}
	if n.pattern != nil {
		all.add(schemaCost{float64(schema.PatternCost(1, n.patternSize)), math.Inf(1)}, size)
	}
	content := c.properties(n, path)
	if n.additional != nil {
		each := c.cost(n.additional, path+".additionalProperties")
		content = schemaCost{max(content.perByte, each.perByte), content.total + each.total*atMost(n.maxProperties)}
	}
	if n.items != nil {
		each := c.cost(n.items, path+".items")
		content = schemaCost{each.perByte, each.total * atMost(n.maxItems)}
	}
	all = schemaCost{max(all.perByte, content.perByte), all.total + content.total}
	for _, one := range []struct {
		name  string
		nodes []*node
	}{{".allOf", n.allOf}, {".anyOf", n.anyOf}, {".oneOf", n.oneOf}} {
		for i, alternative := range one.nodes {
			all.add(c.cost(alternative, tree.IndexPath(path+one.name, i)), size)
		}
	}
	if n.not != nil {
		all.add(c.cost(n.not, path+".not"), size)
	}
	all.total = min(all.total, all.perByte*estimatedBytes)
	if all.total > maxCost {
		c.faults.Forbidden(path, fmt.Sprintf("estimated cost of validation is %.0f, which exceeds %d: simplify pattern, anyOf, oneOf, allOf or not, or add maxItems, maxProperties or maxLength", all.total, maxCost))
		return schemaCost{}
	}
	return all
}

// properties returns the cost of all properties. Only the highest cost per byte counts, because the
// properties share the bytes of the object.
func (c costChecker) properties(n *node, path string) (all schemaCost) {
	sum, cheap, largest := 0.0, 0.0, 0.0
	for _, name := range n.names {
		one := c.cost(n.properties[name], tree.KeyPath(path+".properties", name))
		all.perByte = max(all.perByte, one.perByte)
		sum += one.total
		if one.total > estimatedBytes {
			largest = max(largest, one.perByte)
		} else {
			cheap += one.total
		}
	}
	all.total = min(sum, cheap+largest*estimatedBytes)
	return all
}

func (s *schemaCost) add(more schemaCost, size float64) {
	s.perByte += more.perByte
	s.total += min(more.total, more.perByte*size)
}

func atMost(limit *int64) float64 {
	if limit == nil {
		return math.Inf(1)
	}
	return float64(max(*limit, 0))
}
