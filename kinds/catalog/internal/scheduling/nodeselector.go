package scheduling

import (
	"strconv"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ValidateNodeSelector checks a node selector at path, which has at least one term.
//
// No term at all is refused. It would select no node, while an absent selector selects all; a client that sends an
// empty list rarely means the former.
func ValidateNodeSelector(s tree.Tree, path string, faults *schema.Faults) {
	path += ".nodeSelectorTerms"
	terms := s.Objects("nodeSelectorTerms")
	if len(terms) == 0 {
		faults.Required(path, "must have at least one node selector term")
	}
	for i, term := range terms {
		validateNodeTerm(term, tree.IndexPath(path, i), faults)
	}
}

// validateNodeTerm checks one term of a node selector.
//
// The only field that can be matched is the name, with one value, which is how controllers pin a Pod to a node.
func validateNodeTerm(term tree.Tree, path string, faults *schema.Faults) {
	for i, e := range term.Objects("matchExpressions") {
		at := tree.IndexPath(path+".matchExpressions", i)
		validateNodeRequirement(e, at, faults)
		key := e.String("key")
		for _, msg := range rules.QualifiedName(key) {
			faults.Invalid(at+".key", key, msg)
		}
	}
	for i, e := range term.Objects("matchFields") {
		at := tree.IndexPath(path+".matchFields", i)
		field.Enum(e, "operator", at, faults, "In", "NotIn")
		if len(e.List("values")) != 1 {
			faults.Required(at+".values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
		}
		if key := e.String("key"); key != "metadata.name" {
			faults.Invalid(at+".key", key, "not a valid field selector key")
		}
	}
}

// Gt and Lt compare numbers, while labels are text. So the one value must be a number here, and nodes whose label is
// none do not match.
func validateNodeRequirement(e tree.Tree, path string, faults *schema.Faults) {
	switch operator := e.String("operator"); {
	case field.OperatorValues(e, path, faults):
	case operator == "Gt", operator == "Lt":
		if values := e.Strings("values"); len(values) != 1 {
			faults.Required(path+".values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
		} else if _, err := strconv.ParseInt(values[0], 10, 64); err != nil {
			faults.Invalid(tree.IndexPath(path+".values", 0), values[0], "must be an integer when `operator` is 'Lt' or 'Gt'")
		}
	default:
		faults.Invalid(path+".operator", operator, "not a valid selector operator")
	}
}
