package cel

import (
	"math"

	"cel.dev/cel-go/checker"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
)

// EstimateCost returns the expression's maximum cost for the largest values that the variables'
// types allow. CRDs with rules above the limit are rejected, so their schemas should bound lists
// and strings.
func (c *Checked) EstimateCost() (uint64, error) {
	estimate, err := c.env.env.EstimateCost(c.ast, estimates{c.env})
	return estimate.Max, err
}

// estimates implements the checker's cost estimator for the variables of an environment. Minimum
// sizes are always zero, because every value may be empty or absent.
type estimates struct{ env *Env }

// EstimateSize returns the size of a value. The path of element starts with a variable, followed by
// field names, "@items" for list elements, and "@keys" and "@values" for maps.
func (e estimates) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	path := element.Path()
	if len(path) == 0 {
		return nil
	}
	t := e.env.variables[path[0]]
	if t == nil { // a type name counts as a variable as large as the first one
		t = e.env.first
	}
	for _, name := range path[1:] {
		if t == nil {
			return nil
		}
		switch name {
		case "@items", "@values":
			t = t.elem
		case "@keys":
			t = t.key
		default:
			t = t.fields[name]
		}
	}
	if t == nil {
		return nil
	}
	return &checker.SizeEstimate{Min: 0, Max: uint64(t.maxElements)}
}

// EstimateCallCost returns an estimate of callCost, or nil for calls that the library estimates.
func (e estimates) EstimateCallCost(function, overload string, target *checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	if unitCall(function, overload) {
		return costs(one)
	}
	if function == "check" {
		return costs(checker.CostEstimate{Min: checkCost, Max: checkCost})
	}
	if target != nil {
		return e.memberCall(function, overload, *target, args)
	}
	return e.globalCall(function, args)
}

var one = checker.CostEstimate{Min: 1, Max: 1}

func costs(c checker.CostEstimate) *checker.CallEstimate {
	return &checker.CallEstimate{CostEstimate: c}
}

func makes(c checker.CostEstimate, size checker.SizeEstimate) *checker.CallEstimate {
	return &checker.CallEstimate{CostEstimate: c, ResultSize: &size}
}

func readingOf(size checker.SizeEstimate) checker.CostEstimate {
	return size.MultiplyByCostFactor(common.StringTraversalCostFactor)
}

func (e estimates) globalCall(function string, args []checker.AstNode) *checker.CallEstimate {
	if function == "_==_" && len(args) == 2 {
		return equality(args[0], args[1])
	}
	if len(args) == 0 {
		return nil
	}
	switch function {
	case "url", "jsonpatch.escapeKey":
		if len(args) == 1 {
			size := e.size(args[0])
			return makes(readingOf(size), size)
		}
	case "cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity", "semver", "isSemver":
		return costs(readingOf(e.size(args[0])))
	case "ip.isCanonical":
		return costs(e.size(args[0]).MultiplyByCostFactor(2 * common.StringTraversalCostFactor))
	}
	return nil
}

func (e estimates) memberCall(function, overload string, target checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	switch function {
	case "isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes":
		return e.listCall(function, target)
	case "lowerAscii", "upperAscii", "substring", "trim":
		size := e.size(target)
		return makes(readingOf(size), size)
	case "split":
		return e.split(target, args)
	case "join":
		return e.join(target, args)
	}
	if len(args) == 0 {
		return nil
	}
	switch function {
	case "fieldSelector", "labelSelector":
		if len(args) == 1 {
			return costs(selectorEstimate(e.size(args[0])))
		}
	case "replace":
		if len(args) >= 2 {
			return e.replace(target, args)
		}
	case "find", "findAll":
		size := e.size(target)
		text := readingOf(size.Add(checker.SizeEstimate{Min: 1, Max: 1}))
		pattern := e.size(args[0]).MultiplyByCostFactor(common.RegexStringLengthCostFactor)
		return makes(text.Multiply(pattern), checker.SizeEstimate{Min: 0, Max: size.Max})
	case "validate":
		// The pattern of the format may be known only at run time. Assume a pattern of this length,
		// in characters.
		const longestPattern = 128
		return costs(readingOf(e.size(args[0])).MultiplyByCostFactor(longestPattern * common.RegexStringLengthCostFactor))
	case "containsIP":
		return e.contains(overload == "cidr_contains_ip_string", checker.CostEstimate{}, args[0])
	case "containsCIDR":
		return e.contains(overload == "cidr_contains_cidr_string", readingOf(addressSize).Add(one), args[0])
	}
	return nil
}

var addressSize = checker.SizeEstimate{Min: 4, Max: 16}

func (e estimates) contains(isText bool, more checker.CostEstimate, other checker.AstNode) *checker.CallEstimate {
	cost := readingOf(addressSize.Add(addressSize)).Add(more)
	if isText {
		cost = cost.Add(checker.CostEstimate(e.size(other)).MultiplyByCostFactor(common.StringTraversalCostFactor))
	}
	return costs(cost)
}

// listCall estimates the cost of functions that read an entire list or string, including every byte
// of a list's strings.
func (e estimates) listCall(function string, target checker.AstNode) *checker.CallEstimate {
	each := one
	if elem := elementOf(target); elem != nil {
		if kind := elem.Type().Kind(); kind == types.StringKind || kind == types.BytesKind {
			each = each.Add(readingOf(e.size(elem)))
		}
	} else if function != "includes" {
		return costs(readingOf(e.size(target)))
	}
	return costs(e.size(target).MultiplyByCost(each))
}

// split estimates the cost of split. It assumes one part per character, unless limit is a literal.
func (e estimates) split(target checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	size := e.size(target)
	most := size.Max // into characters
	if len(args) > 1 {
		if limit := args[1].Expr().AsLiteral(); limit != nil {
			if n, ok := limit.Value().(int64); ok {
				most = uint64(n)
			}
		}
	}
	return makes(size.MultiplyByCostFactor(2*common.StringTraversalCostFactor), checker.SizeEstimate{Min: 0, Max: most})
}

func (e estimates) join(target checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	var size checker.SizeEstimate
	list := e.size(target)
	if elem := elementOf(target); elem != nil {
		size = list.Multiply(e.size(elem))
	}
	if len(args) > 0 {
		between := checker.SizeEstimate{Min: max(list.Min, 1) - 1, Max: max(list.Max, 1) - 1}
		size = size.Add(e.size(args[0]).Multiply(between))
	}
	return makes(readingOf(size), size)
}

// replace estimates the smallest and largest result. If the new string is longer, the largest
// result has as many replacements as possible. If it is shorter, the largest result has none.
func (e estimates) replace(target checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	size, old, fresh := e.size(target), e.size(args[0]), e.size(args[1])
	var count, kept checker.SizeEstimate
	switch {
	case old.Min == 0: // inserted around all characters
		count.Max, kept.Max = addOne(size.Max), size.Max
	case fresh.Max <= old.Min:
		kept.Max = size.Max
	default: // many short texts become long ones
		count.Max = uint64(math.Ceil(float64(size.Max) / float64(old.Min)))
	}
	switch {
	case old.Max == 0:
		count.Min, kept.Min = addOne(size.Min), size.Min
	case old.Max <= fresh.Min:
		kept.Min = size.Min
	default:
		count.Min = uint64(math.Ceil(float64(size.Min) / float64(old.Max)))
	}
	return makes(size.MultiplyByCostFactor(2*common.StringTraversalCostFactor), count.Multiply(fresh).Add(kept))
}

// addOne returns n+1, except that math.MaxUint64 remains unlimited.
func addOne(n uint64) uint64 {
	if n == math.MaxUint64 {
		return n
	}
	return n + 1
}

func selectorEstimate(size checker.SizeEstimate) checker.CostEstimate {
	const perRequirement = common.ListCreateBaseCost + common.StructCreateBaseCost
	base := checker.CostEstimate{Min: common.ListCreateBaseCost, Max: common.ListCreateBaseCost}
	return base.Add(readingOf(size)).Add(size.MultiplyByCostFactor(0.5).MultiplyByCostFactor(perRequirement))
}

// equality returns the cost of comparing two opaque library values. It returns nil for other types,
// whose cost cel-go estimates.
func equality(a, b checker.AstNode) *checker.CallEstimate {
	t := a.Type()
	if t.Equal(b.Type()) != types.True {
		return nil
	}
	if t.Kind() == types.OpaqueKind { // the checker copies these types
		switch t.TypeName() {
		case ipType.TypeName(), cidrType.TypeName():
			return costs(one)
		}
		return nil
	}
	switch t {
	case quantityType, authorizerType, pathCheckType, groupCheckType, resourceCheckType, decisionType, semverType:
		return costs(one)
	case formatType:
		const longestName = 64
		return costs(checker.CostEstimate{Min: 1, Max: longestName}.MultiplyByCostFactor(common.StringTraversalCostFactor))
	case urlType:
		size := checker.SizeEstimate{Min: 1, Max: 1}
		if known := b.ComputedSize(); known != nil {
			size = *known
		}
		return costs(checker.CostEstimate{Min: 1, Max: size.Max}.MultiplyByCostFactor(common.StringTraversalCostFactor))
	}
	return nil
}

// size returns math.MaxUint64 as the maximum of an unbounded value, so that every cost that depends
// on it exceeds the limit.
func (e estimates) size(node checker.AstNode) checker.SizeEstimate {
	if size := node.ComputedSize(); size != nil {
		return *size
	}
	if size := e.EstimateSize(node); size != nil {
		return *size
	}
	return checker.SizeEstimate{Min: 0, Max: math.MaxUint64}
}

// elementOf returns a node that represents the elements of a list, or nil if the element type is
// unknown. EstimateSize uses the node's path to find the maximum element size in the schema.
func elementOf(list checker.AstNode) checker.AstNode {
	parameters := list.Type().Parameters()
	if len(parameters) == 0 {
		return nil
	}
	elem := element{t: parameters[0]}
	if path := list.Path(); path != nil {
		elem.path = append(append([]string{}, path...), "@items")
	}
	return elem
}

// An element is a node that represents all elements of a list. It has no expression, but size
// estimates require a node.
type element struct {
	path []string
	t    *types.Type
}

func (e element) Path() []string { return e.path }

func (e element) Type() *types.Type { return e.t }

func (e element) Expr() ast.Expr { return nil }

func (e element) ComputedSize() *checker.SizeEstimate { return nil }
