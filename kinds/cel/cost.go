package cel

import (
	"math"

	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// checkCost is the cost of one Authorizer check. Two checks fit into PerCallLimit.
const checkCost = 350_000

// An estimator returns the costs of library calls. They match kube-apiserver's, so that this server
// accepts every expression that kube-apiserver accepts. Only a call that takes much longer than its
// cost suggests is charged for its time. Otherwise a few requests could monopolize a CPU.
type estimator struct{}

func (estimator) CallCost(function, overload string, args []ref.Val, result ref.Val) *uint64 {
	cost, known := callCost(function, overload, args, result)
	if much := takes(function, args); much > ordinary && much > float64(cost) {
		cost, known = uint64(min(much, maxSize)), true
	}
	if !known {
		return nil
	}
	return &cost
}

// callCost returns the cost of a call as in kube-apiserver, or false for functions whose cost
// cel-go computes. It must agree with EstimateCallCost, which uses maximum sizes.
func callCost(function, overload string, args []ref.Val, result ref.Val) (cost uint64, known bool) {
	if unitCall(function, overload) {
		return 1, true
	}
	size := func(i int) float64 { return float64(sizeOf(args[i])) }
	switch {
	case function == "check":
		return checkCost, true
	case function == loopStep:
		return 0, true
	case len(args) == 0:
		return 0, false
	}
	switch function {
	case "isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes":
		return traversal(args[0]), true
	case "url", "lowerAscii", "upperAscii", "substring", "trim", "jsonpatch.escapeKey", "cidr", "isIP", "isCIDR", "ip",
		"quantity", "isQuantity", "semver", "isSemver":
		return reading(size(0)), true
	case "replace", "split", "ip.isCanonical":
		return reading(2 * size(0)), true
	case "join":
		return reading(2 * float64(sizeOf(result))), true
	case "_==_":
		_, ofLibrary := args[0].(unitEqual)
		return 1, ofLibrary
	}
	if len(args) < 2 {
		return 0, false
	}
	switch function {
	case "fieldSelector", "labelSelector":
		return selectorCost(sizeOf(args[1])), true
	case "find", "findAll", guardedMatches:
		return matching(size(0), size(1)), true
	case "containsIP":
		cost = reading(2 * size(0))
		if overload == "cidr_contains_ip_string" {
			cost += reading(size(1))
		}
		return cost, true
	case "containsCIDR":
		cost = reading(2*size(0)) + reading(size(0)) + 1
		if overload == "cidr_contains_cidr_string" {
			cost += reading(size(1))
		}
		return cost, true
	case "validate":
		if f, ok := held[*format](args[0]); ok {
			return matching(size(1), float64(f.size)), true
		}
	}
	return 0, false
}

// unitCall reports whether a call only reads a field, which costs one unit. ip reads a field of a
// CIDR range, but parses a string.
func unitCall(function, overload string) bool {
	switch function {
	case "serviceAccount", "path", "group", "resource", "subresource", "namespace", "name", "allowed", "reason", "error", "errored",
		"masked", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast",
		"format.named",
		"sign", "asInteger", "isInteger", "asApproximateFloat", "isGreaterThan", "isLessThan", "compareTo", "add", "sub", "major", "minor", "patch",
		"getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery":
		return true
	}
	return function == "ip" && overload == "cidr_ip"
}

// unitEqual is implemented by opaque values, whose comparison costs one unit.
type unitEqual interface{ isOpaque() }

func (opaque[T]) isOpaque() {}

func reading(size float64) uint64 { return uint64(math.Ceil(size * common.StringTraversalCostFactor)) }

// matching returns the cost of matching a regular expression, given the lengths of text and
// pattern. Go's matcher never backtracks, so its time is proportional to their product.
func matching(text, pattern float64) uint64 {
	return reading(text+1) * uint64(math.Ceil(pattern*common.RegexStringLengthCostFactor))
}

// selectorCost returns the cost of parsing a selector of size characters. Each requirement has at
// least two characters and costs as much as an object in a list literal.
func selectorCost(size uint64) uint64 {
	const perRequirement = common.ListCreateBaseCost + common.StructCreateBaseCost
	requirements := math.Ceil(float64(size) / 2)
	return common.ListCreateBaseCost + reading(float64(size)) + uint64(requirements*perRequirement)
}

// sizeOf returns the size of a value. As in kube-apiserver, strings are measured in characters.
func sizeOf(v ref.Val) uint64 {
	if sizer, ok := v.(traits.Sizer); ok {
		if n, ok := sizer.Size().(types.Int); ok {
			return uint64(n)
		}
	}
	return 1
}

// traversal returns the cost of reading an entire value. It may itself read the value, because the
// call has already done so.
func traversal(v ref.Val) (cost uint64) {
	switch v := v.(type) {
	case types.String:
		return uint64(float64(len(v)) * common.StringTraversalCostFactor)
	case types.Bytes:
		return uint64(float64(len(v)) * common.StringTraversalCostFactor)
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			cost += traversal(key) + traversal(v.Get(key))
		}
		return cost
	case traits.Lister:
		for it := v.Iterator(); it.HasNext() == types.True; {
			cost += traversal(it.Next())
		}
		return cost
	}
	return 1
}
