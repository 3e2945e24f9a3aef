package custom

import (
	"fmt"
	"net/url"
	"reflect"
	"regexp"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// library declares the functions that expressions of definitions have in addition to CEL and its extensions: for lists,
// regular expressions and URLs.
func library() []cel.EnvOption {
	element := cel.TypeParamType("T")
	list, text := cel.ListType(element), cel.ListType(cel.StringType)
	options := []cel.EnvOption{
		cel.Function("isSorted", cel.MemberOverload("list_is_sorted", []*cel.Type{list}, cel.BoolType, cel.UnaryBinding(isSorted))),
		cel.Function("min", cel.MemberOverload("list_min", []*cel.Type{list}, element, cel.UnaryBinding(extreme(types.IntNegOne)))),
		cel.Function("max", cel.MemberOverload("list_max", []*cel.Type{list}, element, cel.UnaryBinding(extreme(types.IntOne)))),
		cel.Function("indexOf", cel.MemberOverload("list_index_of", []*cel.Type{list, element}, cel.IntType, cel.BinaryBinding(indexOf))),
		cel.Function("lastIndexOf", cel.MemberOverload("list_last_index_of", []*cel.Type{list, element}, cel.IntType, cel.BinaryBinding(lastIndexOf))),
		cel.Function("find", cel.MemberOverload("string_find", []*cel.Type{cel.StringType, cel.StringType}, cel.StringType, cel.BinaryBinding(find))),
		cel.Function("findAll",
			cel.MemberOverload("string_find_all", []*cel.Type{cel.StringType, cel.StringType}, text, cel.BinaryBinding(func(s, pattern ref.Val) ref.Val {
				return findAll(s, pattern, types.IntNegOne)
			})),
			cel.MemberOverload("string_find_some", []*cel.Type{cel.StringType, cel.StringType, cel.IntType}, text, cel.FunctionBinding(func(args ...ref.Val) ref.Val {
				return findAll(args[0], args[1], args[2])
			}))),
		cel.Function("isURL", cel.Overload("string_is_url", []*cel.Type{cel.StringType}, cel.BoolType, cel.UnaryBinding(func(s ref.Val) ref.Val {
			_, err := parseURL(s)
			return types.Bool(err == nil)
		}))),
		cel.Function("url", cel.Overload("string_to_url", []*cel.Type{cel.StringType}, urlType, cel.UnaryBinding(func(s ref.Val) ref.Val {
			u, err := parseURL(s)
			if err != nil {
				return types.WrapErr(err)
			}
			return urlValue{u}
		}))),
	}
	for _, sum := range []struct {
		name string
		of   *cel.Type
		zero ref.Val
	}{
		{"int", cel.IntType, types.IntZero}, {"uint", cel.UintType, types.Uint(0)}, {"double", cel.DoubleType, types.Double(0)},
		{"duration", cel.DurationType, types.Duration{}},
	} {
		options = append(options, cel.Function("sum", cel.MemberOverload("list_sum_"+sum.name, []*cel.Type{cel.ListType(sum.of)}, sum.of, cel.UnaryBinding(sumOf(sum.zero)))))
	}
	for name, part := range map[string]func(u *url.URL) string{
		"getScheme": func(u *url.URL) string { return u.Scheme }, "getHost": func(u *url.URL) string { return u.Host },
		"getHostname": (*url.URL).Hostname, "getPort": (*url.URL).Port, "getEscapedPath": (*url.URL).EscapedPath,
	} {
		options = append(options, cel.Function(name, cel.MemberOverload("url_"+name, []*cel.Type{urlType}, cel.StringType, cel.UnaryBinding(func(u ref.Val) ref.Val {
			return types.String(part(u.(urlValue).URL))
		}))))
	}
	return options
}

// firstResult calls do with the elements of a list until it returns a value; nil if it never does.
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

// compare is -1, 0 or 1, or an error.
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

// extreme finds the least element of a list (wanted is -1), or the greatest (1).
func extreme(wanted types.Int) func(ref.Val) ref.Val {
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
			return types.NewErr("min or max called on empty list")
		}
		return found
	}
}

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

func find(s, pattern ref.Val) ref.Val {
	re, err := regexp.Compile(fmt.Sprint(pattern.Value()))
	if err != nil {
		return types.NewErr("Illegal regex: %v", err.Error())
	}
	return types.String(re.FindString(fmt.Sprint(s.Value())))
}

func findAll(s, pattern, limit ref.Val) ref.Val {
	re, err := regexp.Compile(fmt.Sprint(pattern.Value()))
	if err != nil {
		return types.NewErr("Illegal regex: %v", err.Error())
	}
	n, _ := limit.Value().(int64)
	return types.NewStringList(types.DefaultTypeAdapter, re.FindAllString(fmt.Sprint(s.Value()), int(n)))
}

// urlType is the type of URLs.
var urlType = cel.OpaqueType("net.URL")

// A urlValue is a URL as a value of expressions.
type urlValue struct{ *url.URL }

func parseURL(s ref.Val) (*url.URL, error) {
	u, err := url.ParseRequestURI(fmt.Sprint(s.Value()))
	if err != nil {
		return nil, fmt.Errorf("URL parse error during conversion from string: %w", err)
	}
	return u, nil
}

// ConvertToNative implements ref.Val.
func (l urlValue) ConvertToNative(t reflect.Type) (any, error) {
	if reflect.TypeOf(l.URL).AssignableTo(t) {
		return l.URL, nil
	}
	return nil, fmt.Errorf("a URL is no %v", t)
}

// ConvertToType implements ref.Val.
func (l urlValue) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.TypeType:
		return urlType
	case types.StringType:
		return types.String(l.String())
	}
	return types.NewErr("a URL is no %s", t.TypeName())
}

// Equal implements ref.Val.
func (l urlValue) Equal(other ref.Val) ref.Val {
	o, ok := other.(urlValue)
	return types.Bool(ok && o.String() == l.String())
}

// Type implements ref.Val.
func (l urlValue) Type() ref.Type { return urlType }

// Value implements ref.Val.
func (l urlValue) Value() any { return l.URL }
