package field

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// IntOrPercent checks a field that is a number or a percentage. atMost limits a percentage to 100. A surge
// may exceed 100 %, while what is unavailable cannot.
func IntOrPercent(t tree.Tree, name, path string, atMost bool, faults *schema.Faults) {
	at := tree.FieldPath(path, name)
	switch v := t[name].(type) {
	case string:
		for _, msg := range rules.Percent(v) {
			faults.Invalid(at, v, msg)
		}
		if atMost && percentValue(v) > 100 {
			faults.Invalid(at, v, "must not be greater than 100%")
		}
	case int64:
		NonNegative(t, path, faults, name)
	}
}

// percentValue is the number of a percentage; 0 if s is not one.
func percentValue(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(s, "%"), 10, 32)
	if err != nil || !strings.HasSuffix(s, "%") {
		return 0
	}
	return n
}

// IsZero reports whether a number or a percentage is zero or absent. A text that is no percentage counts as
// zero; it has been reported by IntOrPercent.
func IsZero(v any) bool {
	switch v := v.(type) {
	case string:
		return percentValue(v) == 0
	case int64:
		return v == 0
	}
	return true
}
