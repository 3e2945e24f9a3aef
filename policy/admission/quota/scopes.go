package quota

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

type requirement struct {
	scope, operator string
	values          []string
}

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

// matchesAny reports whether any of the names satisfies the requirement. names lists the object's
// values in the scope, such as its priority class. Without names, only the operators DoesNotExist
// and NotIn match.
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

func (r requirement) String() string {
	return "{" + r.scope + " " + r.operator + " [" + strings.Join(r.values, " ") + "]}"
}

func nonEmpty(names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
