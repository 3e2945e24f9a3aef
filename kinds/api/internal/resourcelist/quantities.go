package resourcelist

import (
	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ValidateQuantity rejects negative quantities, and fractions of resources that are counted in
// integers. A declarative rule reports malformed quantities.
func ValidateQuantity(amounts tree.Tree, name, path string, faults *schema.Faults) {
	text := amounts.String(name)
	q, err := quantity.Read(text)
	if err != nil {
		return
	}
	if q.Sign() < 0 {
		faults.Invalid(path, text, field.NonNegativeMsg)
	}
	if isInteger(name) && !q.IsInteger() {
		faults.Invalid(path, text, "must be an integer")
	}
}

// IsPositive reports whether a quantity is greater than zero.
func IsPositive(q string) bool { return quantity.Compare(q, "0") > 0 }
