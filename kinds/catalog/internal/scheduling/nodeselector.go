package scheduling

import (
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
		at := tree.IndexPath(path, i)
		validateNodeTerm(term, at, faults)
		validateNodeValues(term, at, faults)
	}
}

// validateNodeValues checks the values of a term that has to hold: no node has a label with another value. Preferences
// may ask for it, as they always could.
func validateNodeValues(term tree.Tree, path string, faults *schema.Faults) {
	for i, e := range term.Objects("matchExpressions") {
		at := tree.IndexPath(path+".matchExpressions", i) + ".values"
		for j, value := range e.Strings("values") {
			for _, msg := range rules.LabelValue(value) {
				faults.Invalid(tree.IndexPath(at, j), value, msg)
			}
		}
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
		validateNodeField(e, tree.IndexPath(path+".matchFields", i), faults)
	}
}

// validateNodeField checks a requirement of the one field of a node that can be asked for: its name.
func validateNodeField(e tree.Tree, path string, faults *schema.Faults) {
	values := e.Strings("values")
	switch operator := e.String("operator"); {
	case operator != "In" && operator != "NotIn":
		faults.Invalid(path+".operator", operator, "not a valid selector operator")
	case len(values) != 1:
		faults.Required(path+".values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
	}
	if key := e.String("key"); key != "metadata.name" {
		faults.Invalid(path+".key", key, "not a valid field selector key")
		return
	}
	for i, name := range values {
		for _, msg := range rules.Subdomain(name) {
			faults.Invalid(tree.IndexPath(path+".values", i), name, msg)
		}
	}
}

// Gt and Lt compare numbers, while labels are text: they have one value, and where that or the label of a node is no
// number, the node does not match.
func validateNodeRequirement(e tree.Tree, path string, faults *schema.Faults) {
	switch operator := e.String("operator"); {
	case field.OperatorValues(e, path, faults):
	case operator == "Gt", operator == "Lt":
		if len(e.List("values")) != 1 {
			faults.Required(path+".values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
		}
	default:
		faults.Invalid(path+".operator", operator, "not a valid selector operator")
	}
}
