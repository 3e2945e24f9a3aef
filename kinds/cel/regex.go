package cel

import (
	"regexp"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/troupe-api/troupe/kinds/regex"
)

func regexFunctions() []cel.EnvOption {
	two := []*cel.Type{cel.StringType, cel.StringType}
	three := []*cel.Type{cel.StringType, cel.StringType, cel.IntType}
	texts := cel.ListType(cel.StringType)
	return []cel.EnvOption{
		cel.Function("find", cel.MemberOverload("string_find_string", two, cel.StringType, cel.BinaryBinding(func(s, pattern ref.Val) ref.Val {
			return find(regexp.Compile, s, pattern)
		}))),
		cel.Function("findAll",
			cel.MemberOverload("string_find_all_string", two, texts, cel.BinaryBinding(func(s, pattern ref.Val) ref.Val {
				return findAll(regexp.Compile, s, pattern, types.IntNegOne)
			})),
			cel.MemberOverload("string_find_all_string_int", three, texts, cel.FunctionBinding(func(args ...ref.Val) ref.Val {
				return findAll(regexp.Compile, args[0], args[1], args[2])
			}))),
	}
}

// A compiler compiles a regular expression. It returns the precompiled expression if the pattern is
// constant.
type compiler func(pattern string) (*regexp.Regexp, error)

func find(compile compiler, s, pattern ref.Val) ref.Val {
	text, re, fault := regexArguments(compile, s, pattern)
	if fault != nil {
		return fault
	}
	return types.String(re.FindString(text))
}

func findAll(compile compiler, s, pattern, limit ref.Val) ref.Val {
	text, re, fault := regexArguments(compile, s, pattern)
	if fault != nil {
		return fault
	}
	n, ok := limit.(types.Int)
	if !ok {
		return types.MaybeNoSuchOverloadErr(limit)
	}
	return types.NewStringList(types.DefaultTypeAdapter, re.FindAllString(text, int(n)))
}

// regexArguments checks the arguments of find and findAll. Its third result is an error or nil.
func regexArguments(compile compiler, s, pattern ref.Val) (string, *regexp.Regexp, ref.Val) {
	text, ok := s.(types.String)
	if !ok {
		return "", nil, types.MaybeNoSuchOverloadErr(s)
	}
	p, ok := pattern.(types.String)
	if !ok {
		return "", nil, types.MaybeNoSuchOverloadErr(pattern)
	}
	re, err := compile(string(p))
	if err != nil {
		return "", nil, types.NewErr("Illegal regex: %v", err.Error())
	}
	return string(text), re, nil
}

func compileConstant(pattern string) (*regexp.Regexp, error) {
	re, err := regex.Compile(pattern)
	if err == regex.ErrTooLarge {
		err = errTooCostly
	}
	return re, err
}

// regexOptimizations makes the interpreter compile constant regular expressions once. An optimized
// call bypasses the function's guard, so it must check the cost itself.
func regexOptimizations() []*interpreter.RegexOptimization {
	optimization := func(function string, call func(compile compiler, args []ref.Val) ref.Val) *interpreter.RegexOptimization {
		return &interpreter.RegexOptimization{Function: function, RegexIndex: 1,
			Factory: func(made interpreter.InterpretableCall, pattern string) (interpreter.InterpretableCall, error) {
				re, err := compileConstant(pattern)
				if err != nil {
					return nil, err
				}
				known := func(string) (*regexp.Regexp, error) { return re, nil }
				return interpreter.NewCall(made.ID(), made.Function(), made.OverloadID(), made.Args(), func(args ...ref.Val) ref.Val {
					if isTooCostly(function, args) {
						return types.WrapErr(errTooCostly)
					}
					return call(known, args)
				}), nil
			}}
	}
	return []*interpreter.RegexOptimization{
		optimization("find", func(compile compiler, args []ref.Val) ref.Val { return find(compile, args[0], args[1]) }),
		optimization("findAll", func(compile compiler, args []ref.Val) ref.Val {
			if len(args) == 2 {
				return findAll(compile, args[0], args[1], types.IntNegOne)
			}
			return findAll(compile, args[0], args[1], args[2])
		}),
	}
}
