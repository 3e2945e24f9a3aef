package cel

import (
	"errors"

	"cel.dev/cel-go/cel"
)

var quantityType = cel.ObjectType("platform.Quantity")

// quantityFunctions declares quantity, isQuantity, and the functions of Quantity values. The
// argument of add and sub may be an integer, but not a float, which cannot represent most decimal
// fractions.
func quantityFunctions() []cel.EnvOption {
	return []cel.EnvOption{
		function("quantity", "string_to_quantity", tryUnary(parseAmount)),
		function("isQuantity", "is_quantity_string", succeeds(parseAmount)),
		function("sign", "quantity_sign", unary(func(a amount) int { return a.Sign() })),
		method("isGreaterThan", "quantity_is_greater_than", binary(func(a, b amount) bool { return a.Cmp(b.Quantity) > 0 })),
		method("isLessThan", "quantity_is_less_than", binary(func(a, b amount) bool { return a.Cmp(b.Quantity) < 0 })),
		method("compareTo", "quantity_compare_to", binary(func(a, b amount) int { return a.Cmp(b.Quantity) })),
		method("asApproximateFloat", "quantity_get_float", unary(amount.float)),
		method("asInteger", "quantity_get_int", tryUnary(func(a amount) (int64, error) {
			n, ok := a.int64()
			if !ok {
				return 0, errors.New("cannot convert value to integer")
			}
			return n, nil
		})),
		method("isInteger", "quantity_is_integer", unary(func(a amount) bool {
			_, ok := a.int64()
			return ok
		})),
		method("add", "quantity_add", binary(amount.add)),
		method("add", "quantity_add_int", binary(func(a amount, n int64) amount { return a.add(amountOf(n)) })),
		method("sub", "quantity_sub", binary(amount.sub)),
		method("sub", "quantity_sub_int", binary(func(a amount, n int64) amount { return a.sub(amountOf(n)) })),
	}
}
