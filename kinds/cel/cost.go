package cel

import (
	"math"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// checkCost is the cost of one question to an Authorizer: an expression can ask two. That is a third of
// what one evaluation may cost (PerCallLimit).
const checkCost = 350_000

// An estimator counts what calls of the libraries cost: what other functions cost is up to CEL. It
// implements interpreter.ActualCostEstimator. Costs are the same as on other servers of this API, so that
// an expression which runs there runs here. Where the real time is far higher, the real time counts
// (takes): there the public API would let a few requests occupy a processor.
type estimator struct{}

// CallCost implements interpreter.ActualCostEstimator.
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

// callCost is the cost of a call as the public API counts it; known is false for functions of the language.
// The formulas must agree with those of estimates, which are given sizes at most where these are given
// values.
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
	case "isSorted", "sum", "max", "min", "indexOf", "lastIndexOf":
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

// unitCall tells the functions that cost one unit: they read a field. ip has two meanings, and only that of
// a network's address reads nothing.
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

// unitEqual are the values that are compared for one unit: those of the libraries. An interface without
// type parameters is needed to recognize an opaque of any type.
type unitEqual interface{ isOpaque() }

func (opaque[T]) isOpaque() {}

// reading is the cost of reading so many bytes. Costs are rounded up: reading a short text is not free.
func reading(size float64) uint64 { return uint64(math.Ceil(size * common.StringTraversalCostFactor)) }

// matching is the cost of matching a text against a regular expression. The matcher takes time in
// proportion to the product, as it never goes back in the text.
func matching(text, pattern float64) uint64 {
	return reading(text+1) * uint64(math.Ceil(pattern*common.RegexStringLengthCostFactor))
}

// selectorCost is the cost of parsing a selector into requirements, of which the shortest has two
// characters. A requirement is an object in a list, and is counted as a literal of that form.
func selectorCost(size uint64) uint64 {
	const perRequirement = common.ListCreateBaseCost + common.StructCreateBaseCost
	requirements := math.Ceil(float64(size) / 2)
	return common.ListCreateBaseCost + reading(float64(size)) + uint64(requirements*perRequirement)
}

// sizeOf is the size of what has one; 1 of anything else. Texts count in characters here, as the public API
// does.
func sizeOf(v ref.Val) uint64 {
	if sizer, ok := v.(traits.Sizer); ok {
		if n, ok := sizer.Size().(types.Int); ok {
			return uint64(n)
		}
	}
	return 1
}

// traversal is the cost of looking at all that is in a value. It counts after the call, and only up to the
// size that the call has read anyway.
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
