package match

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const all = "*"

// A rule matches requests. If names is not empty, only objects with these names match.
type rule struct {
	operations [operations]bool
	groups     []string
	versions   []string
	resources  []resourcePattern
	scope      string
	names      []string
}

// A resourcePattern matches a resource and subresource. Each may be a wildcard. An empty sub
// matches the resource itself.
type resourcePattern struct{ resource, sub string }

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

func (r *rule) matches(k *schema.Kind, subresource string) bool {
	return r.inScope(k) && containsOrAll(r.groups, k.Group) && containsOrAll(r.versions, k.Version) &&
		slices.ContainsFunc(r.resources, func(p resourcePattern) bool {
			return (p.resource == all || p.resource == k.Resource) && (p.sub == all || p.sub == subresource)
		})
}

// inScope reports whether a kind is in the rule's scope. A subresource has the scope of its object.
// A Namespace is cluster-scoped.
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
