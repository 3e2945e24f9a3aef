package field

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// OperatorValues checks the values of a requirement whose operator is In, NotIn, Exists or DoesNotExist,
// and returns false for any other operator. Node selectors have operators beyond these; their caller checks
// them after a false.
func OperatorValues(e tree.Tree, path string, faults *schema.Faults) bool {
	values := e.Strings("values")
	switch e.String("operator") {
	case "In", "NotIn":
		if len(values) == 0 {
			faults.Required(path+".values", "must be specified when `operator` is 'In' or 'NotIn'")
		}
	case "Exists", "DoesNotExist":
		if len(values) > 0 {
			faults.Forbidden(path+".values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
		}
	default:
		return false
	}
	return true
}

// LabelSelector checks a label selector at path; it may be absent. An empty selector is valid: depending on
// the field it selects everything or nothing.
func LabelSelector(s tree.Tree, path string, faults *schema.Faults) {
	rules.ValidateLabels(s.Object("matchLabels"), path+".matchLabels", faults)
	for i, e := range s.Objects("matchExpressions") {
		at := tree.IndexPath(path+".matchExpressions", i)
		if !OperatorValues(e, at, faults) {
			faults.Invalid(at+".operator", e.String("operator"), "not a valid selector operator")
		}
		key := e.String("key")
		for _, msg := range rules.QualifiedName(key) {
			faults.Invalid(at+".key", key, msg)
		}
		for j, v := range e.Strings("values") {
			for _, msg := range rules.LabelValue(v) {
				faults.Invalid(tree.IndexPath(at+".values", j), v, msg)
			}
		}
	}
}
