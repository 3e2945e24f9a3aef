package cel

import (
	"errors"
	"math"
	"regexp"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
	"cel.dev/cel-go/interpreter/functions"

	"github.com/troupe-api/troupe/kinds/regex"
)

// The interpreter charges a call only after it returns, but some functions take far more time or
// memory than the size of their arguments suggests. A guard computes the time of such a call in
// advance and rejects the call if the time exceeds PerCallLimit.

// errTooCostly is the result of a call that alone would exceed PerCallLimit.
var errTooCostly = errors.New(costLimitExceeded)

// guarded lists the guarded functions except matches, which guardMatches wraps. The time of other
// functions is proportional to their arguments, whose creation has already been charged.
var guarded = []string{
	"replace", "split", "join", "format", "find", "findAll", "sets.contains", "sets.equivalent", "sets.intersects", "lists.range", "distinct",
	"flatten",
}

// guardFunctions wraps the bindings of guarded functions. Overloads without a binding cannot be
// wrapped, because the interpreter evaluates them itself.
func guardFunctions(env *cel.Env) (*cel.Env, error) {
	options := []cel.EnvOption{declareLoopStep()}
	for _, name := range guarded {
		declared := env.Functions()[name]
		bindings, err := declared.Bindings()
		if err != nil {
			return nil, err
		}
		for _, o := range declared.OverloadDecls() {
			for _, b := range bindings {
				if b.Operator != o.ID() {
					continue
				}
				overload := cel.MemberOverload
				if !o.IsMemberFunction() {
					overload = cel.Overload
				}
				options = append(options, cel.Function(name, overload(o.ID(), o.ArgTypes(), o.ResultType(), guardBinding(name, b))))
			}
		}
	}
	return env.Extend(options...)
}

// guardBinding returns a guarded binding of the same arity as b, because the interpreter handles
// error arguments by arity.
func guardBinding(name string, b *functions.Overload) cel.OverloadOpt {
	switch {
	case b.Unary != nil:
		return cel.UnaryBinding(func(v ref.Val) ref.Val {
			if isTooCostly(name, []ref.Val{v}) {
				return types.WrapErr(errTooCostly)
			}
			return b.Unary(v)
		})
	case b.Binary != nil:
		return cel.BinaryBinding(func(v, w ref.Val) ref.Val {
			if isTooCostly(name, []ref.Val{v, w}) {
				return types.WrapErr(errTooCostly)
			}
			return b.Binary(v, w)
		})
	}
	return cel.FunctionBinding(func(args ...ref.Val) ref.Val {
		if isTooCostly(name, args) {
			return types.WrapErr(errTooCostly)
		}
		return b.Function(args...)
	})
}

func isTooCostly(function string, args []ref.Val) bool { return takes(function, args) > PerCallLimit }

// ordinary is the longest time, in cost units, for which a call is charged only its kube-apiserver
// cost. Expressions that kube-apiserver accepts therefore also run here.
const ordinary = 10_000

// takes returns the time of a call in cost units, or 0 if the normal cost covers it. The result is
// a float because products can exceed 64 bits.
func takes(function string, args []ref.Val) (cost float64) {
	switch function {
	case "_==_", "_!=_":
		if isContainer(args[0]) && isContainer(args[1]) {
			cost = readingTime(min(deepSize(args[0]), deepSize(args[1])))
		}
	case "_+_":
		if !isContainer(args[0]) {
			cost = readingTime(length(args[0]) + length(args[1]))
		}
	case "size", "contains", "startsWith", "endsWith", "reverse", "strings.quote", "bytes", "string":
		if !isContainer(args[0]) {
			cost = readingTime(length(args[0]))
		}
	case "@in":
		if isContainer(args[0]) {
			cost = readingTime(deepSize(args[1]))
		}
	case "replace":
		cost = readingTime(length(args[0]) + replacedSize(args))
	case "split":
		cost = readingTime(2*length(args[0])) + length(args[0])/16
	case "join":
		cost = readingTime(deepSize(args[0]) + joinedSize(args))
	case "format":
		cost = readingTime(formattedSize(args))
	case "find", "findAll", guardedMatches:
		cost = float64(matching(length(args[0]), length(args[1])))
		if pattern, ok := args[1].(types.String); ok {
			cost = max(cost, regex.Expansion(string(pattern)))
		}
	case "sets.contains", "sets.equivalent", "sets.intersects":
		cost = 2 * deepSize(args[0]) * deepSize(args[1])
	case "lists.range":
		if n, ok := args[0].(types.Int); ok {
			cost = float64(n)
		}
	case "distinct":
		cost = length(args[0]) * deepSize(args[0])
	case "flatten":
		cost = deepSize(args[0])
	}
	return cost
}

func isContainer(v ref.Val) bool {
	switch v.(type) {
	case traits.Lister, traits.Mapper:
		return true
	}
	return false
}

func readingTime(size float64) float64 { return size * 0.1 }

// length returns the length of a string or container, or 1 for other values. It must be cheap,
// because it runs before every guarded call.
func length(v ref.Val) float64 {
	switch v := v.(type) {
	case types.String:
		return float64(len(v)) // bytes are quicker to count than characters
	case types.Bytes:
		return float64(len(v))
	case traits.Lister, traits.Mapper:
		return float64(sizeOf(v))
	}
	return 1
}

// maxSize is the size at which deepSize stops. Such a value exceeds every cost limit.
const maxSize = 100 * PerCallLimit

// deepSize returns the total size of a value. It stops at about maxSize, so that measuring stays
// cheap.
func deepSize(v ref.Val) float64 {
	var sum float64
	addSize(v, &sum)
	return sum
}

// addSize adds the size of a value to sum, so that maxSize bounds the total of all parts. Each
// value adds 1 to the size of its content.
func addSize(v ref.Val, sum *float64) {
	if *sum++; *sum > maxSize {
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

// replacedSize returns an upper bound on the size of replace's result. An empty search string
// matches before and after every character.
func replacedSize(args []ref.Val) float64 {
	text, old, fresh := length(args[0]), length(args[1]), length(args[2])
	return text + (text/math.Max(old, 1)+1)*fresh
}

func joinedSize(args []ref.Val) float64 {
	if len(args) > 1 {
		return length(args[0]) * length(args[1])
	}
	return 0
}

// formattedSize returns an upper bound on the size of a formatted string. Formatting lengthens
// numbers and hexadecimal strings.
func formattedSize(args []ref.Val) float64 {
	const perNumber, perByte = 64, 2
	return length(args[0]) + perByte*deepSize(args[1]) + perNumber*length(args[1]) + perNumber*precision(args[0])
}

// precision returns the sum of all numbers in a format, because a verb such as "%.9999f" prints
// thousands of digits. Numbers outside verbs only raise the bound.
func precision(format ref.Val) (sum float64) {
	text, _ := format.Value().(string)
	number := 0.0
	for i := range len(text) {
		if c := text[i]; c >= '0' && c <= '9' {
			number = 10*number + float64(c-'0')
			continue
		}
		sum, number = sum+number, 0
	}
	return sum + number
}

// guardedMatches is the function that replaces matches. Expressions cannot contain its name.
const guardedMatches = "@matches"

// guardMatches replaces calls to matches with guarded calls. It is an interpreter decorator,
// because only the interpreter knows which patterns are constant. Constant patterns are compiled
// once.
func guardMatches(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok || call.Function() != overloads.Matches || len(call.Args()) != 2 {
		return i, nil
	}
	compile := compiler(regexp.Compile)
	if constant, ok := call.Args()[1].(interpreter.InterpretableConst); ok {
		pattern, _ := constant.Value().(types.String)
		re, err := compileConstant(string(pattern))
		if err != nil {
			return nil, err
		}
		compile = func(string) (*regexp.Regexp, error) { return re, nil }
	}
	return interpreter.NewCall(call.ID(), guardedMatches, "", call.Args(), func(args ...ref.Val) ref.Val {
		text, isText := args[0].(types.String)
		pattern, isPattern := args[1].(types.String)
		switch {
		case types.IsUnknownOrError(args[0]):
			return args[0]
		case types.IsUnknownOrError(args[1]):
			return args[1]
		case !isText || !isPattern:
			return types.MaybeNoSuchOverloadErr(args[0])
		case isTooCostly(guardedMatches, args):
			return types.WrapErr(errTooCostly)
		}
		re, err := compile(string(pattern))
		if err != nil {
			return types.WrapErr(err)
		}
		return types.Bool(re.MatchString(string(text)))
	}), nil
}
