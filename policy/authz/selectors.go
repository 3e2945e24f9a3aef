package authz

import (
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Selectors restricts a request to objects that match all requirements. Unparseable requirements
// are omitted.
type Selectors struct{ Fields, Labels []selector.Requirement }

// ReadSelectors parses a request's selectors and ignores malformed ones. It returns nil if there
// are no requirements.
func ReadSelectors(fields, labels string) *Selectors {
	s := &Selectors{}
	if all, err := selector.FieldRequirements(fields); err == nil {
		s.Fields = all
	}
	if all, err := selector.ParseLabels(labels); err == nil {
		s.Labels = all.Requirements()
	}
	return s.orNil()
}

func (s *Selectors) orNil() *Selectors {
	if len(s.Fields) == 0 && len(s.Labels) == 0 {
		return nil
	}
	return s
}

// Field returns the value that a field must have. ok is false unless the selectors require a single
// value.
func (s *Selectors) Field(name string) (value string, ok bool) {
	if s == nil {
		return "", false
	}
	for _, c := range s.Fields {
		if c.Key == name && c.Operator == "In" && len(c.Values) == 1 {
			return c.Values[0], true
		}
	}
	return "", false
}

func reviewSelectors(attributes tree.Tree) *Selectors {
	if !attributes.Has("fieldSelector") && !attributes.Has("labelSelector") {
		return nil
	}
	fields, labels := attributes.Object("fieldSelector"), attributes.Object("labelSelector")
	s := ReadSelectors(fields.String("rawSelector"), labels.String("rawSelector"))
	if s == nil {
		s = &Selectors{}
	}
	s.Fields = append(s.Fields, reviewConditions(fields, fieldOperators)...)
	s.Labels = append(s.Labels, reviewConditions(labels, labelOperators)...)
	return s.orNil()
}

// Supported requirement operators and their allowed numbers of values.
var (
	fieldOperators = map[string]valueCount{"In": {1, 1}, "NotIn": {1, 1}}
	labelOperators = map[string]valueCount{"In": {1, 1 << 20}, "NotIn": {1, 1 << 20}, "Exists": {}, "DoesNotExist": {}}
)

type valueCount struct{ min, max int }

func reviewConditions(selection tree.Tree, operators map[string]valueCount) (all []selector.Requirement) {
	for _, t := range selection.Objects("requirements") {
		c := selector.Requirement{Key: t.String("key"), Operator: t.String("operator"), Values: t.Strings("values")}
		n, known := operators[c.Operator]
		if known && c.Key != "" && len(c.Values) >= n.min && len(c.Values) <= n.max {
			all = append(all, c)
		}
	}
	return all
}
