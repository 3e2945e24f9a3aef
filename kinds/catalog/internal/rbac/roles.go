package rbac

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Whether the author may hand out these rights is for admission (policy/authz/rbac), not for the rules of the kind.
type roleStrategy struct {
	schema.DefaultStrategy
	dropEmptyRules
}

func (roleStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	validateRole(obj, true, faults)
}

// dropEmptyRules sets empty rules to null, so that a role without rules reads the same however it
// was written.
type dropEmptyRules struct{}

func (dropEmptyRules) Prepare(obj, _ tree.Tree) {
	if len(obj.List("rules")) == 0 {
		delete(obj, "rules")
	}
}

// The selectors are checked although the rules they gather are written by a controller: a bad one would leave the
// role without rules and nobody would be told.
type clusterRoleStrategy struct {
	schema.DefaultStrategy
	dropEmptyRules
}

func (clusterRoleStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	validateRole(obj, false, faults)
	selectors := obj.Object("aggregationRule").Objects("clusterRoleSelectors")
	for i, s := range selectors {
		field.LabelSelector(s, tree.IndexPath("aggregationRule.clusterRoleSelectors", i), faults)
	}
}

func validateRole(obj tree.Tree, namespaced bool, faults *schema.Faults) {
	for i, rule := range obj.Objects("rules") {
		validatePolicyRule(rule, namespaced, tree.IndexPath("rules", i), faults)
	}
}

// validatePolicyRule checks one rule of a role: about resources or, in a ClusterRole, about
// non-resource URLs.
//
// Paths that are no resources belong to the cluster, so a rule about them in a namespace would never allow anything.
// A rule about both kinds has no defined meaning.
func validatePolicyRule(rule tree.Tree, namespaced bool, path string, faults *schema.Faults) {
	groups, resources := rule.List("apiGroups"), rule.List("resources")
	if urls := rule.List("nonResourceURLs"); len(urls) > 0 {
		if namespaced {
			faults.Invalid(path+".nonResourceURLs", urls, "namespaced rules cannot apply to non-resource URLs")
		}
		if len(groups) > 0 || len(resources) > 0 || len(rule.List("resourceNames")) > 0 {
			faults.Invalid(path+".nonResourceURLs", urls, "rules cannot apply to both regular resources and non-resource URLs")
		}
		return
	}
	if len(groups) == 0 {
		faults.Required(path+".apiGroups", "resource rules must supply at least one api group")
	}
	if len(resources) == 0 {
		faults.Required(path+".resources", "resource rules must supply at least one resource")
	}
}

// A bindingStrategy is that of the bindings of one scope. A binding in a namespace may refer to a
// role of the namespace or of the cluster; one of the cluster only to the latter, since a role of a
// namespace means nothing outside.
type bindingStrategy struct {
	schema.DefaultStrategy
	group      string   // of roles, users and groups
	roles      []string // the kinds of roles
	namespaced bool
}

// Default sets the API group of subjects that are users and groups.
//
// Service accounts have no group: they are objects of the core group.
func (c bindingStrategy) Default(obj tree.Tree) {
	for _, s := range obj.Objects("subjects") {
		if kind := s.String("kind"); (kind == "User" || kind == "Group") && s.String("apiGroup") == "" {
			s["apiGroup"] = c.group
		}
	}
}

func (c bindingStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	ref := obj.Object("roleRef")
	if group := ref.String("apiGroup"); group != c.group {
		faults.NotSupported("roleRef.apiGroup", group, []string{c.group})
	}
	if kind := ref.String("kind"); !slices.Contains(c.roles, kind) {
		faults.NotSupported("roleRef.kind", kind, c.roles)
	}
	for i, s := range obj.Objects("subjects") {
		c.validateSubject(s, tree.IndexPath("subjects", i), faults)
	}
}

// Names of users and groups are any text, because they come from outside; those of service accounts are names of
// objects.
func (c bindingStrategy) validateSubject(s tree.Tree, path string, faults *schema.Faults) {
	group := s.String("apiGroup")
	switch kind := s.String("kind"); kind {
	case "ServiceAccount":
		field.Format(s, "name", path, faults, rules.Subdomain)
		if group != "" {
			faults.NotSupported(path+".apiGroup", group, []string{""})
		}
		if !c.namespaced {
			field.Require(s, path, faults, "namespace")
		}
	case "User", "Group":
		if group != c.group {
			faults.NotSupported(path+".apiGroup", group, []string{c.group})
		}
	default:
		faults.NotSupported(path+".kind", kind, []string{"ServiceAccount", "User", "Group"})
	}
}

// ValidateUpdate keeps the role of a binding: the right to change a binding is not the right to
// grant another role.
func (bindingStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	if !tree.SemanticEqual(obj["roleRef"], old["roleRef"]) {
		faults.Invalid("roleRef", obj["roleRef"], "cannot change roleRef")
	}
}
