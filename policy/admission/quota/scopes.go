package quota

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A requirement is one scope that a quota is restricted to.
type requirement struct {
	scope, operator string
	values          []string
}

// requirements reads the scopes of a quota's spec, or of one entry of the configuration.
func requirements(scopes []string, expressions []tree.Tree) []requirement {
	all := make([]requirement, 0, len(scopes)+len(expressions))
	for _, s := range scopes {
		all = append(all, requirement{scope: s, operator: "Exists"})
	}
	for _, e := range expressions {
		all = append(all, requirement{e.String("scopeName"), e.String("operator"), e.Strings("values")})
	}
	return all
}

func (r requirement) equal(o requirement) bool {
	return r.scope == o.scope && r.operator == o.operator && slices.Equal(r.values, o.values)
}

// matchesAny tells whether the operator holds for one of an object's names of the scope, such as its priority
// class; without any, it must hold for their absence.
func (r requirement) matchesAny(names []string) bool {
	switch r.operator {
	case "Exists":
		return len(names) > 0
	case "DoesNotExist":
		return len(names) == 0
	case "In":
		return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(r.values, name) })
	case "NotIn":
		return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(r.values, name) })
	}
	return false
}

// String has the form of messages to clients.
func (r requirement) String() string {
	return "{" + r.scope + " " + r.operator + " [" + strings.Join(r.values, " ") + "]}"
}

// nonEmpty drops empty names.
func nonEmpty(names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
