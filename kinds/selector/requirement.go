package selector

import (
	"fmt"
	"strings"
)

// A Requirement is one requirement of a selector, in the form that access reviews and webhooks use.
// Operator is In, NotIn, Exists, DoesNotExist, Gt or Lt.
type Requirement struct {
	Key, Operator string
	Values        []string
}

// Requirements returns the requirements of l in order.
func (l Labels) Requirements() []Requirement {
	var all []Requirement
	for _, r := range l.requirements {
		all = append(all, Requirement{Key: r.key, Operator: operatorNames[r.op], Values: r.values})
	}
	return all
}

var operatorNames = [...]string{exists: "Exists", doesNotExist: "DoesNotExist", in: "In", notIn: "NotIn", greaterThan: "Gt", lessThan: "Lt"}

// FieldRequirements parses a field selector into In and NotIn requirements with one value each. It
// accepts any field name, because authorization runs before the kind is known. The error is a
// *meta.Status with code 400.
func FieldRequirements(s string) ([]Requirement, error) {
	var all []Requirement
	for _, text := range splitTerms(s) {
		if text == "" {
			continue
		}
		name, value, not, ok := splitTerm(text)
		if !ok {
			return nil, badRequest(fmt.Errorf("invalid selector: '%s'; can't understand '%s'", s, text))
		}
		value, err := unescape(value)
		if err != nil {
			return nil, badRequest(err)
		}
		if name == "" && value == "" {
			continue // as in Kubernetes, "=" requires nothing
		}
		c := Requirement{Key: name, Operator: "In", Values: []string{value}}
		if not {
			c.Operator = "NotIn"
		}
		all = append(all, c)
	}
	return all, nil
}

// String returns l in the syntax that ParseLabels accepts.
func (l Labels) String() string {
	var terms []string
	for _, r := range l.Requirements() {
		values := strings.Join(r.Values, ",")
		switch r.Operator {
		case "Exists":
			terms = append(terms, r.Key)
		case "DoesNotExist":
			terms = append(terms, "!"+r.Key)
		case "In":
			terms = append(terms, r.Key+" in ("+values+")")
		case "NotIn":
			terms = append(terms, r.Key+" notin ("+values+")")
		case "Gt":
			terms = append(terms, r.Key+">"+values)
		case "Lt":
			terms = append(terms, r.Key+"<"+values)
		}
	}
	return strings.Join(terms, ",")
}
