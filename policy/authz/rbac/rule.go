package rbac

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authz"
)

const wildcard = "*"

// A rule allows verbs on resources in groups, or on non-resource paths. If names is not empty, it
// allows only objects with these names.
type rule struct{ verbs, groups, resources, names, paths []string }

// newRules decodes the rules of a role without validating them. It copies the strings, so that the
// rules do not retain obj.
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

func (r *rule) allows(a *authz.Attributes) bool {
	if !containsOrWildcard(r.verbs, a.Verb) {
		return false
	}
	if !a.ResourceRequest {
		return r.allowsPath(a.Path)
	}
	return containsOrWildcard(r.groups, a.Group) && r.allowsResource(a.Resource, a.Subresource) && r.allowsName(a.Name)
}

func containsOrWildcard(list []string, value string) bool {
	for _, s := range list {
		if s == value || s == wildcard {
			return true
		}
	}
	return false
}

// allowsResource reports whether r.resources matches. Entries have the form "*", "pods",
// "pods/log", or "*/scale".
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

// allowsName reports whether the rule allows the name in a request. A rule with names rejects
// requests without a name, such as creates. A list whose field selector selects a single name
// counts as a request with that name (see Server.selectedName in package http).
func (r *rule) allowsName(name string) bool {
	return len(r.names) == 0 || name != "" && slices.Contains(r.names, name)
}

func (r *rule) allowsPath(path string) bool {
	for _, pattern := range r.paths {
		if authz.CoversPath(pattern, path) {
			return true
		}
	}
	return false
}
