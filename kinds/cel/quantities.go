package cel

import (
	"errors"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

var quantityType = cel.ObjectType("platform.Quantity")

func newQuantity(a amount) ref.Val {
	same := func(a, b amount) bool { return a.Cmp(b.Quantity) == 0 }
	return opaque[amount]{quantityType, "Quantity", a, same, amount.String}
}

// quantityFunctions declares quantity, isQuantity, and the functions of Quantity values. The
// argument of add and sub may be an integer, but not a float, because floats cannot represent most
// decimal fractions.
func quantityFunctions() []cel.EnvOption {
	type q = amount
	texts, one, two := []*cel.Type{cel.StringType}, []*cel.Type{quantityType}, []*cel.Type{quantityType, quantityType}
	withInt := []*cel.Type{quantityType, cel.IntType}
	of := func(call func(a q) ref.Val) cel.OverloadOpt { return cel.UnaryBinding(unary(call)) }
	both := func(call func(a, b q) ref.Val) cel.OverloadOpt { return cel.BinaryBinding(binary(call)) }
	ofInt := func(call func(a, b q) q) cel.OverloadOpt {
		return cel.BinaryBinding(binary(func(a q, n int64) ref.Val { return newQuantity(call(a, amountOf(n))) }))
	}
	return []cel.EnvOption{
		cel.Function("quantity", cel.Overload("string_to_quantity", texts, quantityType, cel.UnaryBinding(unary(func(s string) ref.Val {
			v, err := parseAmount(s)
			if err != nil {
				return types.WrapErr(err)
			}
			return newQuantity(v)
		})))),
		cel.Function("isQuantity", cel.Overload("is_quantity_string", texts, cel.BoolType, cel.UnaryBinding(unary(func(s string) ref.Val {
			_, err := parseAmount(s)
			return types.Bool(err == nil)
		})))),
		cel.Function("sign", cel.Overload("quantity_sign", one, cel.IntType, of(func(a q) ref.Val { return types.Int(a.Sign()) }))),
		cel.Function("isGreaterThan", cel.MemberOverload("quantity_is_greater_than", two, cel.BoolType, both(func(a, b q) ref.Val { return types.Bool(a.Cmp(b.Quantity) > 0) }))),
		cel.Function("isLessThan", cel.MemberOverload("quantity_is_less_than", two, cel.BoolType, both(func(a, b q) ref.Val { return types.Bool(a.Cmp(b.Quantity) < 0) }))),
		cel.Function("compareTo", cel.MemberOverload("quantity_compare_to", two, cel.IntType, both(func(a, b q) ref.Val { return types.Int(a.Cmp(b.Quantity)) }))),
		cel.Function("asApproximateFloat", cel.MemberOverload("quantity_get_float", one, cel.DoubleType, of(func(a q) ref.Val { return types.Double(a.float()) }))),
		cel.Function("asInteger", cel.MemberOverload("quantity_get_int", one, cel.IntType, of(func(a q) ref.Val {
			n, ok := a.int64()
			if !ok {
				return types.WrapErr(errors.New("cannot convert value to integer"))
			}
			return types.Int(n)
		}))),
		cel.Function("isInteger", cel.MemberOverload("quantity_is_integer", one, cel.BoolType, of(func(a q) ref.Val {
			_, ok := a.int64()
			return types.Bool(ok)
		}))),
		cel.Function("add",
			cel.MemberOverload("quantity_add", two, quantityType, both(func(a, b q) ref.Val { return newQuantity(a.add(b)) })),
			cel.MemberOverload("quantity_add_int", withInt, quantityType, ofInt(q.add))),
		cel.Function("sub",
			cel.MemberOverload("quantity_sub", two, quantityType, both(func(a, b q) ref.Val { return newQuantity(a.sub(b)) })),
			cel.MemberOverload("quantity_sub_int", withInt, quantityType, ofInt(q.sub))),
	}
}
