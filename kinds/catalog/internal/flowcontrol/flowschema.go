package flowcontrol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/flowcontrol"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxPrecedence is the largest matchingPrecedence. Schemas are tried from the smallest number on, so this is what is
// tried last: that of catch-all.
const maxPrecedence = 10000

// supportedVerbs are those that a rule may name, in the order of faults.
var supportedVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"}

// validateFlowSchema leaves what concerns one field alone to the declaration. fixed holds the specs of the mandatory
// schemas by their names. They cannot be changed: without them a request could be left without a schema, or
// administrators could be made to wait like everybody else.
func validateFlowSchema(obj tree.Tree, fixed map[string]tree.Tree, faults *schema.Faults) {
	spec, name := obj.Object("spec"), obj.Object("metadata").String("name")
	validatePrecedence(spec, name, faults)
	for i, rule := range spec.Objects("rules") {
		validateRule(rule, tree.IndexPath("spec.rules", i), faults)
	}
	if want, ok := fixed[name]; ok && !tree.SemanticEqual(spec, want) {
		faults.Invalid("spec", spec, fmt.Sprintf("spec of '%s' must equal the fixed value", name))
	}
}

// validatePrecedence keeps the first place for the schema that lets administrators in. A schema with the same
// precedence and a name that is sorted before exempt would otherwise be tried before it.
func validatePrecedence(spec tree.Tree, name string, faults *schema.Faults) {
	const path = "spec.matchingPrecedence"
	precedence, _ := spec.Int("matchingPrecedence")
	if precedence <= 0 {
		faults.Invalid(path, precedence, "must be a positive value")
	}
	if precedence > maxPrecedence {
		faults.Invalid(path, precedence, fmt.Sprintf("must not be greater than %d", maxPrecedence))
	}
	if precedence == 1 && name != flowcontrol.Exempt {
		faults.Invalid(path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")
	}
}

// validateRule checks one rule: whom it is about, and what they ask for. A rule without anything to ask for would
// match nothing, which nobody can have meant.
func validateRule(rule tree.Tree, path string, faults *schema.Faults) {
	for i, subject := range rule.Objects("subjects") {
		validateSubject(subject, tree.IndexPath(path+".subjects", i), faults)
	}
	resources, paths := rule.Objects("resourceRules"), rule.Objects("nonResourceRules")
	if len(resources) == 0 && len(paths) == 0 {
		faults.Required(path, "at least one of resourceRules and nonResourceRules has to be non-empty")
	}
	for i, r := range resources {
		validateResourceRule(r, tree.IndexPath(path+".resourceRules", i), faults)
	}
	for i, r := range paths {
		validatePathRule(r, tree.IndexPath(path+".nonResourceRules", i), faults)
	}
}

// subjectFields are the fields of a subject by its kind, in the order of faults.
var subjectFields = []struct{ kind, field string }{{"Group", "group"}, {"ServiceAccount", "serviceAccount"}, {"User", "user"}}

// validateSubject requires the one field that the kind of a subject names. The fields of other kinds are refused,
// since they would be ignored in silence.
func validateSubject(subject tree.Tree, path string, faults *schema.Faults) {
	kind := subject.String("kind")
	var kinds []string
	for _, f := range subjectFields {
		kinds = append(kinds, f.kind)
	}
	if !slices.Contains(kinds, kind) {
		faults.NotSupported(path+".kind", kind, kinds)
		return
	}
	for _, f := range subjectFields {
		at := path + "." + f.field
		switch {
		case f.kind != kind && subject.Has(f.field):
			faults.Forbidden(at, fmt.Sprintf("%s is forbidden when subject kind is not '%s'", f.field, f.kind))
		case f.kind != kind:
		case !subject.Has(f.field):
			faults.Required(at, fmt.Sprintf("%s is required when subject kind is '%s'", f.field, f.kind))
		default:
			validateSubjectName(f.kind, subject.Object(f.field), at, faults)
		}
	}
}

// validateSubjectName checks the name in a subject. Users and groups may have any name, and * stands for all of them.
// Accounts are named as objects are; * stands for all accounts of a namespace, but there is no * for namespaces.
func validateSubjectName(kind string, of tree.Tree, path string, faults *schema.Faults) {
	name := of.String("name")
	if name == "" {
		faults.Required(path + ".name")
	}
	if kind != "ServiceAccount" {
		return
	}
	if name != "" && name != "*" {
		invalid(rules.Subdomain(name), path+".name", name, "", faults)
	}
	namespace := of.String("namespace")
	if namespace == "" {
		faults.Required(path+".namespace", "must specify namespace for service account")
		return
	}
	invalid(rules.Label(namespace), path+".namespace", namespace, "", faults)
}

// invalid tells what is wrong with a value.
func invalid(msgs []string, path, value, intro string, faults *schema.Faults) {
	for _, msg := range msgs {
		faults.Invalid(path, value, intro+msg)
	}
}

// wildcard tells whether a list holds *, which then has to be alone: what else is in it would have no effect.
func wildcard(list []string, path, what string, faults *schema.Faults) bool {
	has := slices.Contains(list, "*")
	if has && len(list) > 1 {
		faults.Invalid(path, tree.ListOf(list), "if '*' is present, must not specify other "+what)
	}
	return has
}

// validateVerbs checks the verbs of either sort of rule. One fault names the whole list, however many of its verbs
// are unknown.
func validateVerbs(verbs []string, path string, faults *schema.Faults) {
	switch {
	case len(verbs) == 0:
		faults.Required(path, "verbs must contain at least one value")
	case wildcard(verbs, path, "verbs", faults):
	case slices.ContainsFunc(verbs, func(v string) bool { return !slices.Contains(supportedVerbs, v) }):
		faults.NotSupported(path, tree.ListOf(verbs), supportedVerbs)
	}
}

// validateResourceRule checks a rule about resources. Names of groups and resources are not looked up, since a schema
// may be written before the kinds that it is about are defined; "" is the core group.
func validateResourceRule(rule tree.Tree, path string, faults *schema.Faults) {
	validateVerbs(rule.Strings("verbs"), path+".verbs", faults)
	if groups := rule.Strings("apiGroups"); len(groups) == 0 {
		faults.Required(path+".apiGroups", "resource rules must supply at least one api group")
	} else {
		wildcard(groups, path+".apiGroups", "api groups", faults)
	}
	if resources := rule.Strings("resources"); len(resources) == 0 {
		faults.Required(path+".resources", "resource rules must supply at least one resource")
	} else {
		wildcard(resources, path+".resources", "resources", faults)
	}
	at, namespaces := path+".namespaces", rule.Strings("namespaces")
	switch {
	case len(namespaces) == 0 && !rule.Bool("clusterScope"):
		faults.Required(at, "resource rules that are not cluster scoped must supply at least one namespace")
	case wildcard(namespaces, at, "namespaces", faults):
	default:
		for i, namespace := range namespaces {
			invalid(rules.Label(namespace), tree.IndexPath(at, i), namespace, "each member of this list must be '*' or a DNS-1123 label; ", faults)
		}
	}
}

// validatePathRule checks a rule about paths that are not those of resources, such as /healthz.
func validatePathRule(rule tree.Tree, path string, faults *schema.Faults) {
	validateVerbs(rule.Strings("verbs"), path+".verbs", faults)
	at, urls := path+".nonResourceURLs", rule.Strings("nonResourceURLs")
	switch {
	case len(urls) == 0:
		faults.Required(at, "nonResourceURLs must contain at least one value")
	case wildcard(urls, at, "non-resource URLs", faults):
	default:
		for i, url := range urls {
			if msg := pathFault(url); msg != "" {
				faults.Invalid(tree.IndexPath(at, i), url, msg)
			}
		}
	}
}

// pathFault tells why a path, or a pattern of paths, is none; "" if it is one. The only patterns are those that end
// in /*. A star elsewhere would not match what it seems to.
func pathFault(path string) string {
	stars := strings.Count(path, "*")
	switch {
	case path == "":
		return "must not be empty"
	case path == "/":
		return ""
	case path[0] != '/':
		return "must start with slash"
	case strings.Contains(path, " "):
		return "must not contain white-space"
	case strings.Contains(path, "//"):
		return "must not contain double slash"
	case stars > 1, stars == 1 && !strings.HasSuffix(path, "/*"):
		return "wildcard can only do suffix matching"
	}
	return ""
}
