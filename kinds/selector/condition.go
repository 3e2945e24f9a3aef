package selector

import (
	"fmt"
	"strconv"
)

// A Condition is one requirement of a selector in the form that reviews show: Operator is In,
// NotIn, Exists, DoesNotExist, Gt or Lt.
type Condition struct {
	Key, Operator string
	Values        []string
}

// Conditions are the requirements of l, in their order.
func (l Labels) Conditions() []Condition {
	var all []Condition
	for _, r := range l.requirements {
		c := Condition{Key: r.key, Operator: operatorNames[r.op], Values: r.values}
		if r.op == above || r.op == below {
			c.Values = []string{strconv.FormatInt(r.number, 10)}
		}
		all = append(all, c)
	}
	return all
}

var operatorNames = [...]string{exists: "Exists", absent: "DoesNotExist", in: "In", notIn: "NotIn", above: "Gt", below: "Lt"}

// FieldConditions are the requirements of a field selector, of whatever kind, in their order:
// In or NotIn with one value each. The error is a *meta.Status, 400.
func FieldConditions(s string) ([]Condition, error) {
	var all []Condition
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
		c := Condition{Key: name, Operator: "In", Values: []string{value}}
		if not {
			c.Operator = "NotIn"
		}
		all = append(all, c)
	}
	return all, nil
}
