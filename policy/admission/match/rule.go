package match

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// all stands for every operation, group, version, resource or scope in a rule.
const all = "*"

// A rule names requests. names restricts it to objects of those names; none means all.
type rule struct {
	operations [operations]bool
	groups     []string
	versions   []string
	resources  []resourcePattern
	scope      string
	names      []string
}

// A resourcePattern is a resource and a sub-resource, either of which may be all. A sub of "" is the resource
// itself.
type resourcePattern struct{ resource, sub string }

// parseRule reads a rule with operations, as configurations and policies have it.
func parseRule(t tree.Tree) rule {
	r := rule{groups: t.Strings("apiGroups"), versions: t.Strings("apiVersions"), scope: t.String("scope"), names: t.Strings("resourceNames")}
	named := t.Strings("operations")
	for o := range operations {
		r.operations[o] = slices.Contains(named, all) || slices.Contains(named, o.String())
	}
	for _, text := range t.Strings("resources") {
		resource, sub, _ := strings.Cut(text, "/")
		r.resources = append(r.resources, resourcePattern{resource, sub})
	}
	return r
}

// matches tells whether the rule is about a resource, whatever the operation and the name.
func (r *rule) matches(k *schema.Kind, subresource string) bool {
	return r.inScope(k) && containsOrAll(r.groups, k.Group) && containsOrAll(r.versions, k.Version) &&
		slices.ContainsFunc(r.resources, func(p resourcePattern) bool {
			return (p.resource == all || p.resource == k.Resource) && (p.sub == all || p.sub == subresource)
		})
}

// inScope tells whether the resource has the scope of the rule. A sub-resource has that of its object, and a
// Namespace is in none.
func (r *rule) inScope(k *schema.Kind) bool {
	switch r.scope {
	case "", all:
		return true
	case "Namespaced":
		return k.Namespaced
	}
	return r.scope == "Cluster" && !k.Namespaced
}

func containsOrAll(list []string, one string) bool {
	return slices.Contains(list, all) || slices.Contains(list, one)
}
