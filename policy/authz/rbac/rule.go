package rbac

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authz"
)

// wildcard stands for all verbs, groups, resources or paths.
const wildcard = "*"

// A rule allows verbs on resources of groups, with names only on the objects called so; or on
// paths that are no resources.
type rule struct{ verbs, groups, resources, names, paths []string }

// newRules reads the rules of a role. They keep nothing of it alive.
//
// Rules are read as they are stored; whether they make sense is for validation.
func newRules(obj tree.Tree) []rule {
	items := obj.Objects("rules")
	list := make([]rule, len(items))
	for i, t := range items {
		list[i] = rule{
			verbs: cloneStrings(t, "verbs"), groups: cloneStrings(t, "apiGroups"), resources: cloneStrings(t, "resources"),
			names: cloneStrings(t, "resourceNames"), paths: cloneStrings(t, "nonResourceURLs"),
		}
	}
	return list
}

func cloneStrings(t tree.Tree, name string) []string {
	list := t.Strings(name)
	if len(list) == 0 {
		return nil
	}
	for i, s := range list {
		list[i] = strings.Clone(s)
	}
	return list
}

// tree is the rule as objects hold it.
func (r rule) tree() tree.Tree {
	t := tree.Tree{"verbs": tree.ListOf(r.verbs)}
	for _, f := range []struct {
		name   string
		values []string
	}{{"apiGroups", r.groups}, {"resources", r.resources}, {"resourceNames", r.names}, {"nonResourceURLs", r.paths}} {
		if len(f.values) > 0 {
			t[f.name] = tree.ListOf(f.values)
		}
	}
	return t
}

// allows tells whether the rule allows what is asked.
func (r *rule) allows(a *authz.Attributes) bool {
	if !containsOrWildcard(r.verbs, a.Verb) {
		return false
	}
	if !a.ResourceRequest {
		return r.allowsPath(a.Path)
	}
	return containsOrWildcard(r.groups, a.Group) && r.allowsResource(a.Resource, a.Subresource) && r.allowsName(a.Name)
}

// containsOrWildcard tells whether a list holds a value, or stands for all.
func containsOrWildcard(list []string, value string) bool {
	for _, s := range list {
		if s == value || s == wildcard {
			return true
		}
	}
	return false
}

// allowsResource: "*" is everything, "pods" the objects, "pods/log" a sub-resource and
// "*/scale" that of every resource.
func (r *rule) allowsResource(resource, sub string) bool {
	for _, s := range r.resources {
		if s == wildcard {
			return true
		}
		of, subOf, _ := strings.Cut(s, "/")
		if subOf == sub && (of == resource || of == wildcard && sub != "") {
			return true
		}
	}
	return false
}

// allowsName: names never allow what has none.
//
// A create and a list have no name, so a rule with names allows neither; a list that a field selector confines to one
// name has that one (http: Server.selectedName).
func (r *rule) allowsName(name string) bool {
	return len(r.names) == 0 || name != "" && slices.Contains(r.names, name)
}

// allowsPath tells whether a path, or a pattern of paths, is within those of the rule.
func (r *rule) allowsPath(path string) bool {
	for _, pattern := range r.paths {
		if authz.CoversPath(pattern, path) {
			return true
		}
	}
	return false
}
