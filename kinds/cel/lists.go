package cel

import (
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

type namedType struct {
	name string
	cel  *cel.Type
	zero ref.Val // for summable types
}

// orderedTypes lists the element types that have list functions, so that the type checker rejects
// calls such as max of a list of objects.
var orderedTypes = []namedType{
	{"int", cel.IntType, types.IntZero}, {"uint", cel.UintType, types.Uint(0)}, {"double", cel.DoubleType, types.Double(0)},
	{"duration", cel.DurationType, types.Duration{}}, {"bool", cel.BoolType, nil}, {"timestamp", cel.TimestampType, nil},
	{"string", cel.StringType, nil}, {"bytes", cel.BytesType, nil},
}

// listFunctions declares isSorted, sum, min, max, indexOf, lastIndexOf and includes. Overload IDs
// match kube-apiserver's, because errors and costs contain them.
func listFunctions() []cel.EnvOption {
	var sorted, sum, least, greatest []cel.FunctionOpt
	for _, t := range orderedTypes {
		list := []*cel.Type{cel.ListType(t.cel)}
		sorted = append(sorted, cel.MemberOverload("list_"+t.name+"_is_sorted_bool", list, cel.BoolType, cel.UnaryBinding(isSorted)))
		least = append(least, cel.MemberOverload("list_"+t.name+"_min_"+t.name, list, t.cel, cel.UnaryBinding(extreme("min", types.IntNegOne))))
		greatest = append(greatest, cel.MemberOverload("list_"+t.name+"_max_"+t.name, list, t.cel, cel.UnaryBinding(extreme("max", types.IntOne))))
		if t.zero != nil {
			sum = append(sum, cel.MemberOverload("list_"+t.name+"_sum_"+t.name, list, t.cel, cel.UnaryBinding(sumOf(t.zero))))
		}
	}
	element := cel.TypeParamType("A")
	find := []*cel.Type{cel.ListType(element), element}
	return []cel.EnvOption{
		cel.Function("isSorted", sorted...), cel.Function("sum", sum...), cel.Function("min", least...), cel.Function("max", greatest...),
		cel.Function("indexOf", cel.MemberOverload("list_a_index_of_int", find, cel.IntType, cel.BinaryBinding(indexOf))),
		cel.Function("lastIndexOf", cel.MemberOverload("list_a_last_index_of_int", find, cel.IntType, cel.BinaryBinding(lastIndexOf))),
		cel.Function("includes", cel.MemberOverload("list_includes_dyn_dyn", []*cel.Type{cel.DynType, cel.DynType}, cel.BoolType,
			cel.BinaryBinding(includes))),
	}
}

// firstResult calls do with each element of a list until do returns a value or an error, and
// returns that result. Otherwise it returns nil.
func firstResult(list ref.Val, do func(i int64, v ref.Val) ref.Val) ref.Val {
	l, ok := list.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(list)
	}
	i := int64(0)
	for it := l.Iterator(); it.HasNext() == types.True; i++ {
		if out := do(i, it.Next()); out != nil {
			return out
		}
	}
	return nil
}

func compare(a, b ref.Val) ref.Val {
	c, ok := a.(traits.Comparer)
	if !ok {
		return types.MaybeNoSuchOverloadErr(a)
	}
	return c.Compare(b)
}

func isSorted(list ref.Val) ref.Val {
	var last ref.Val
	out := firstResult(list, func(_ int64, v ref.Val) ref.Val {
		if last != nil {
			switch c := compare(last, v); {
			case types.IsError(c):
				return c
			case c == types.IntOne:
				return types.False
			}
		}
		last = v
		return nil
	})
	if out == nil {
		return types.True
	}
	return out
}

// extreme returns a function that finds the smallest (wanted is -1) or largest (wanted is 1)
// element. An empty list is an error.
func extreme(name string, wanted types.Int) func(ref.Val) ref.Val {
	return func(list ref.Val) ref.Val {
		var found ref.Val
		out := firstResult(list, func(_ int64, v ref.Val) ref.Val {
			if found == nil {
				found = v
				return nil
			}
			c := compare(v, found)
			if types.IsError(c) {
				return c
			}
			if c == wanted {
				found = v
			}
			return nil
		})
		switch {
		case out != nil:
			return out
		case found == nil:
			return types.NewErr("%s called on empty list", name)
		}
		return found
	}
}

// sumOf returns a function that adds the elements of a list to zero. Overflow is an error.
func sumOf(zero ref.Val) func(ref.Val) ref.Val {
	return func(list ref.Val) ref.Val {
		sum := zero
		out := firstResult(list, func(_ int64, v ref.Val) ref.Val {
			adder, ok := sum.(traits.Adder)
			if !ok {
				return types.MaybeNoSuchOverloadErr(sum)
			}
			if sum = adder.Add(v); types.IsError(sum) {
				return sum
			}
			return nil
		})
		if out != nil {
			return out
		}
		return sum
	}
}

// indexOf returns an element's index, or -1 if it is absent. Elements of another type are unequal,
// not errors.
func indexOf(list, wanted ref.Val) ref.Val {
	out := firstResult(list, func(i int64, v ref.Val) ref.Val {
		if v.Equal(wanted) == types.True {
			return types.Int(i)
		}
		return nil
	})
	if out == nil {
		return types.IntNegOne
	}
	return out
}

func lastIndexOf(list, wanted ref.Val) ref.Val {
	last := types.IntNegOne
	out := firstResult(list, func(i int64, v ref.Val) ref.Val {
		if v.Equal(wanted) == types.True {
			last = types.Int(i)
		}
		return nil
	})
	if out == nil {
		return last
	}
	return out
}

// includes reports whether a list contains a value. A target that is not a list must equal the
// value.
func includes(target, wanted ref.Val) ref.Val {
	if _, ok := target.(traits.Lister); !ok {
		return types.Bool(target.Equal(wanted) == types.True)
	}
	return types.Bool(indexOf(target, wanted) != types.IntNegOne)
}
