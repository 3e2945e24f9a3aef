package custom

import (
	"errors"
	"math"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// What expressions may cost when they run, in the units of CEL. A million units take about a tenth of a second.
const (
	maxExpressionCost = 1_000_000  // one of them
	maxObjectCost     = 10_000_000 // all for one object
)

// evaluationTimeout ends evaluations that the cost limit does not end in time: accounting for many small steps takes
// longer than the steps.
const evaluationTimeout = 5 * time.Second

// The cost of reading a byte of text, and what each byte of a regular expression adds to each byte that is matched.
const (
	traversalCostFactor = 0.1
	regexCostFactor     = 0.25
)

// costEstimator estimates the cost of calls from the sizes of their arguments and results.
// For other functions the costs of CEL apply. It implements interpreter.ActualCostEstimator.
type costEstimator struct{}

// CallCost implements interpreter.ActualCostEstimator.
func (costEstimator) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	cost, known := callCost(function, args)
	if !known {
		return nil
	}
	return &cost
}

// callCost is the cost of a call, known before it is made; false if that of CEL applies.
func callCost(function string, args []ref.Val) (uint64, bool) {
	if len(args) == 0 {
		return 0, false
	}
	switch function {
	case "isSorted", "sum", "min", "max":
		return deepSize(args[0]), true
	case "indexOf", "lastIndexOf", "lowerAscii", "upperAscii", "substring", "trim", "charAt", "url", "isURL", "strings.quote":
		return traverse(deepSize(args[0])), true
	case "split":
		return traverse(2*length(args[0])) + length(args[0])/16, true
	case "replace":
		return traverse(length(args[0]) + replacedSize(args)), true
	case "join":
		return traverse(deepSize(args[0])+joinedSize(args)) + 1, true
	case "format":
		return traverse(formattedSize(args)), true
	case "matches", "find", "findAll":
		if len(args) < 2 {
			return 0, false
		}
		return traverse(length(args[0])+1) * uint64(math.Ceil(float64(length(args[1]))*regexCostFactor)), true
	case "sets.contains", "sets.equivalent", "sets.intersects":
		if len(args) == 2 {
			return 1 + 2*min(deepSize(args[0]), maxSize)*min(deepSize(args[1]), maxSize), true
		}
	case "_==_", "_!=_":
		if len(args) == 2 && isContainer(args[0]) {
			return traverse(min(deepSize(args[0]), deepSize(args[1]))), true
		}
	case "@in":
		if len(args) == 2 && args[1].Type() == types.ListType {
			return deepSize(args[1]), true
		}
	}
	return 0, false
}

func traverse(size uint64) uint64 { return uint64(math.Ceil(float64(size) * traversalCostFactor)) }

func isContainer(v ref.Val) bool {
	switch v.(type) {
	case traits.Lister, traits.Mapper:
		return true
	}
	return false
}

// length is that of a text or a list; 1 of anything else.
func length(v ref.Val) uint64 {
	if sizer, ok := v.(traits.Sizer); ok {
		switch s := v.(type) {
		case types.String:
			return uint64(len(s)) // bytes, which is quicker to find than characters
		case types.Bytes:
			return uint64(len(s))
		}
		if n, ok := sizer.Size().(types.Int); ok {
			return uint64(n)
		}
	}
	return 1
}

// maxSize is where deepSize stops counting: it is more than any expression may cost.
const maxSize = 100 * maxExpressionCost

// deepSize is the size of a value with everything in it.
func deepSize(v ref.Val) uint64 {
	var sum uint64
	addSize(v, &sum)
	return sum
}

func addSize(v ref.Val, sum *uint64) {
	if *sum += 1; *sum > maxSize {
		return
	}
	switch v := v.(type) {
	case types.String, types.Bytes:
		*sum += length(v)
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == types.True && *sum <= maxSize; {
			key := it.Next()
			addSize(key, sum)
			if value, found := v.Find(key); found {
				addSize(value, sum)
			}
		}
	case traits.Lister:
		for it := v.Iterator(); it.HasNext() == types.True && *sum <= maxSize; {
			addSize(it.Next(), sum)
		}
	}
}

// replacedSize bounds the size of the result of a replacement.
func replacedSize(args []ref.Val) uint64 {
	if len(args) < 3 {
		return length(args[0])
	}
	text, old, fresh := length(args[0]), length(args[1]), length(args[2])
	return text + (text/max(old, 1)+1)*fresh
}

// joinedSize is the size of the texts of a list, with what is between them.
func joinedSize(args []ref.Val) uint64 {
	size := deepSize(args[0])
	if len(args) > 1 {
		size += length(args[0]) * length(args[1])
	}
	return size
}

// formattedSize bounds the size of the result of a format: numbers, and texts in hexadecimal digits, become longer than
// the arguments.
func formattedSize(args []ref.Val) uint64 {
	const perNumber, perByte = 64, 2
	size := length(args[0])
	if len(args) > 1 {
		size += perByte*deepSize(args[1]) + perNumber*length(args[1]) + perNumber*uint64(precision(args[0]))
	}
	return size
}

// precision is the sum of the numbers in a format: each asks for that many digits.
func precision(format ref.Val) int {
	text, _ := format.Value().(string)
	sum, number := 0, 0
	for i := 0; i < len(text) && sum < maxSize; i++ {
		if c := text[i]; c >= '0' && c <= '9' && number < maxSize {
			number = 10*number + int(c-'0')
			continue
		}
		sum, number = sum+number, 0
	}
	return min(sum+number, maxSize)
}

// errTooCostly is the result of a call that is not made because it alone would cost too much.
var errTooCostly = errors.New("operation cancelled: actual cost limit exceeded")

// guardedFunctions are the functions whose time or result can be far larger than their arguments. matches is another,
// which is guarded where it is called (matchCalls).
var guardedFunctions = []string{"replace", "split", "join", "format", "find", "findAll", "sets.contains", "sets.equivalent", "sets.intersects"}

// guardFunctions makes an environment in which guarded functions check their cost before they run.
func guardFunctions(env *cel.Env) (*cel.Env, error) {
	var options []cel.EnvOption
	for _, name := range guardedFunctions {
		decl := env.Functions()[name]
		made, err := decl.Bindings()
		if err != nil {
			return nil, err
		}
		for _, o := range decl.OverloadDecls() {
			for _, b := range made {
				if b.Operator != o.ID() {
					continue
				}
				binding := cel.FunctionBinding(func(args ...ref.Val) ref.Val {
					if cost, _ := callCost(name, args); cost > maxExpressionCost {
						return types.WrapErr(errTooCostly)
					}
					switch {
					case b.Unary != nil && len(args) == 1:
						return b.Unary(args[0])
					case b.Binary != nil && len(args) == 2:
						return b.Binary(args[0], args[1])
					case b.Function != nil:
						return b.Function(args...)
					}
					return types.NoSuchOverloadErr()
				})
				overload := cel.MemberOverload
				if !o.IsMemberFunction() {
					overload = cel.Overload
				}
				options = append(options, cel.Function(name, overload(o.ID(), o.ArgTypes(), o.ResultType(), binding)))
			}
		}
	}
	return env.Extend(options...)
}
