package cel

import (
	"errors"
	"math"
	"regexp"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
	"github.com/google/cel-go/interpreter/functions"

	"github.com/troupe-api/troupe/kinds/regex"
)

// Costs are counted when a call has returned. Calls whose time or result can be far larger than their arguments are
// guarded besides: they look at what they would take before they do anything. And what they take is what they cost, if it is
// far more than the public API counts for them.

// errTooCostly is the result of a call that is not made because it alone would cost too much.
var errTooCostly = errors.New(costLimitExceeded)

// guarded are the functions that are guarded. matches is another (guardMatches). The others take time in
// proportion to what they are given, and what they are given was paid for when it was made.
var guarded = []string{
	"replace", "split", "join", "format", "find", "findAll", "sets.contains", "sets.equivalent", "sets.intersects", "lists.range", "distinct",
	"flatten",
}

// guardFunctions makes an environment in which guarded functions check what they would take before they
// run. The bindings are wrapped, not written again, so the semantics stay those of the library. An overload
// that has no binding is evaluated by the interpreter itself and cannot be wrapped.
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

// guardBinding is the binding of a function that checks what it would take. It has as many arguments: on that depends
// when faults of arguments count.
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

// isTooCostly tells whether a call would take more than one evaluation may. A call that is refused ends the
// evaluation like one that has exceeded its limit.
func isTooCostly(function string, args []ref.Val) bool { return takes(function, args) > PerCallLimit }

// ordinary is the cost up to which calls cost what the public API says, even where they take more. Below
// it, the difference is no danger, and expressions near their limits must not fail here that run elsewhere.
const ordinary = 10_000

// takes is what a call takes, in units of cost; 0 for calls that take what they cost. Sizes are floats:
// products of two sizes may exceed 64 bits, and must saturate rather than wrap.
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

// isContainer tells values whose parts have to be looked at one by one.
func isContainer(v ref.Val) bool {
	switch v.(type) {
	case traits.Lister, traits.Mapper:
		return true
	}
	return false
}

// readingTime is the time for so many bytes or elements, in units of cost.
func readingTime(size float64) float64 { return size * 0.1 }

// length is that of a text or a list; 1 of anything else. It is cheap: guards run before every call that
// they guard.
func length(v ref.Val) float64 {
	switch v := v.(type) {
	case types.String:
		return float64(len(v)) // bytes, which is quicker to find than characters
	case types.Bytes:
		return float64(len(v))
	case traits.Lister, traits.Mapper:
		return float64(sizeOf(v))
	}
	return 1
}

// maxSize is where deepSize stops counting: it is more than any expression may cost.
const maxSize = 100 * PerCallLimit

// deepSize is the size of a value with everything in it. Measuring stops at maxSize and so cannot itself
// become costly.
func deepSize(v ref.Val) float64 {
	var sum float64
	addSize(v, &sum)
	return sum
}

// The sum is passed on, so that the bound holds for the whole value and not for each part. It counts one
// for each value besides its content.
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

// replacedSize bounds the size of the result of a replacement. An empty old text is found between all
// characters.
func replacedSize(args []ref.Val) float64 {
	text, old, fresh := length(args[0]), length(args[1]), length(args[2])
	return text + (text/math.Max(old, 1)+1)*fresh
}

// joinedSize is the size of the texts of a list, with what is between them. It counts one separator more
// than there is, which does no harm to a bound.
func joinedSize(args []ref.Val) float64 {
	if len(args) > 1 {
		return length(args[0]) * length(args[1])
	}
	return 0
}

// formattedSize bounds the size of the result of a format: numbers, and texts in hexadecimal digits, become longer than
// the arguments.
func formattedSize(args []ref.Val) float64 {
	const perNumber, perByte = 64, 2
	return length(args[0]) + perByte*deepSize(args[1]) + perNumber*length(args[1]) + perNumber*precision(args[0])
}

// precision is the sum of the numbers in a format: each asks for that many digits. "%.9999f" of a few bytes
// becomes text of thousands. Digits that mean no precision are counted as well; that only makes the bound
// higher.
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

// guardedMatches is the function that calls of matches become. The name begins with a character that no
// expression can spell.
const guardedMatches = "@matches"

// guardMatches replaces calls of matches by calls that check what they would take first. Regular
// expressions that are constants are compiled once. It is a decorator, because in the planned call a
// constant pattern can be told from a computed one. Errors of arguments are passed on as the interpreter
// would.
func guardMatches(i interpreter.Interpretable) (interpreter.Interpretable, error) {
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
