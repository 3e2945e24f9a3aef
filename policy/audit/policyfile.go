package audit

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Load reads a Policy from a YAML or JSON file. The error contains the path of each invalid field.
func Load(path string, naming *meta.Naming) (*Policy, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p, err := Parse(text, naming)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// Parse parses a Policy in YAML or JSON. It rejects duplicate and unknown fields, because a rule
// with a misspelled field would match and record too much.
func Parse(text []byte, naming *meta.Naming) (*Policy, error) {
	object, err := codec.DecodeConfigFile(text)
	if err != nil {
		return nil, err
	}
	if object == nil {
		return nil, errors.New("a policy must be a map")
	}
	r := &policyReader{}
	p := r.policy(object, naming.Group("audit")+"/v1")
	return p, errors.Join(r.faults...)
}

// A policyReader collects the errors of a policy. Each starts with a field path such as
// "rules[2].level".
type policyReader struct{ faults []error }

func (r *policyReader) fault(path, text string) {
	r.faults = append(r.faults, errors.New(path+": "+text))
}

func (r *policyReader) policy(t tree.Tree, apiVersion string) *Policy {
	r.checkUnknownFields(t, "", "apiVersion", "kind", "metadata", "rules", "omitStages", "omitManagedFields")
	if have := t.String("apiVersion"); have != apiVersion {
		r.fault("apiVersion", fmt.Sprintf("%q is not %q", have, apiVersion))
	}
	if kind := t.String("kind"); kind != "Policy" {
		r.fault("kind", fmt.Sprintf("%q is not \"Policy\"", kind))
	}
	p := &Policy{omitStages: r.stages(t, "")}
	if flag := r.boolField(t, ""); flag != nil {
		p.omitManagedFields = *flag
	}
	list := r.objectList(t, "", "rules")
	if len(list) == 0 {
		r.fault("rules", "must not be empty")
	}
	for i, rule := range list {
		p.rules = append(p.rules, r.rule(rule, tree.IndexPath("rules", i), p.omitManagedFields))
	}
	return p
}

func (r *policyReader) rule(t tree.Tree, path string, omitManagedFields bool) rule {
	r.checkUnknownFields(t, path, "level", "users", "userGroups", "verbs", "resources", "namespaces", "nonResourceURLs", "omitStages", "omitManagedFields")
	made := rule{
		users: r.stringList(t, path, "users"), groups: r.stringList(t, path, "userGroups"), verbs: r.stringList(t, path, "verbs"),
		namespaces: r.stringList(t, path, "namespaces"), paths: r.stringList(t, path, "nonResourceURLs"),
		omitStages: r.stages(t, path), omitManagedFields: omitManagedFields,
	}
	level, ok := parseLevel(t.String("level"))
	if !ok {
		r.fault(path+".level", fmt.Sprintf("%v: must be one of %s", t["level"], strings.Join(levelNames, ", ")))
	}
	made.level = level
	if flag := r.boolField(t, path); flag != nil {
		made.omitManagedFields = *flag
	}
	for i, pattern := range made.paths {
		r.pattern(pattern, tree.IndexPath(path+".nonResourceURLs", i))
	}
	for i, one := range r.objectList(t, path, "resources") {
		made.resources = append(made.resources, r.resources(one, tree.IndexPath(path+".resources", i)))
	}
	if len(made.paths) > 0 && len(made.resources)+len(made.namespaces) > 0 {
		r.fault(path+".nonResourceURLs", "must not be set together with resources or namespaces")
	}
	return made
}

func (r *policyReader) pattern(pattern, path string) {
	switch {
	case pattern == "*":
	case !strings.HasPrefix(pattern, "/"):
		r.fault(path, fmt.Sprintf("%q must begin with a slash", pattern))
	case strings.Contains(pattern[:len(pattern)-1], "*"):
		r.fault(path, fmt.Sprintf("%q: * must be the last character", pattern))
	}
}

func (r *policyReader) resources(t tree.Tree, path string) resources {
	r.checkUnknownFields(t, path, "group", "resources", "resourceNames")
	group, ok := t["group"].(string)
	if !ok && t["group"] != nil {
		r.fault(path+".group", "must be a string")
	}
	if group != "" && group != "*" {
		for _, text := range rules.Subdomain(group) {
			r.fault(path+".group", fmt.Sprintf("%q: %s", group, text))
		}
	}
	made := resources{group: group, names: r.stringList(t, path, "resources"), objects: r.stringList(t, path, "resourceNames")}
	if len(made.objects) > 0 && len(made.names) == 0 {
		r.fault(path+".resourceNames", "requires resources")
	}
	return made
}

func (r *policyReader) checkUnknownFields(t tree.Tree, path string, names ...string) {
	for _, name := range t.SortedKeys() {
		if !slices.Contains(names, name) {
			r.fault(tree.FieldPath(path, name), "unknown field")
		}
	}
}

func (r *policyReader) objectList(t tree.Tree, path, name string) (list []tree.Tree) {
	for i, item := range r.list(t, path, name) {
		object, ok := item.(tree.Tree)
		if !ok {
			r.fault(tree.IndexPath(tree.FieldPath(path, name), i), "must be a map")
		}
		list = append(list, object)
	}
	return list
}

func (r *policyReader) stringList(t tree.Tree, path, name string) (list []string) {
	for i, item := range r.list(t, path, name) {
		text, ok := item.(string)
		if !ok {
			r.fault(tree.IndexPath(tree.FieldPath(path, name), i), "must be a string")
		}
		list = append(list, text)
	}
	return list
}

func (r *policyReader) list(t tree.Tree, path, name string) []any {
	list, ok := t[name].([]any)
	if !ok && t[name] != nil {
		r.fault(tree.FieldPath(path, name), "must be a list")
	}
	return list
}

func (r *policyReader) stages(t tree.Tree, path string) (set stageSet) {
	for i, name := range r.stringList(t, path, "omitStages") {
		if !set.add(name) {
			r.fault(tree.IndexPath(tree.FieldPath(path, "omitStages"), i), fmt.Sprintf("%q: must be one of %s", name, strings.Join(stageNames, ", ")))
		}
	}
	return set
}

func (r *policyReader) boolField(t tree.Tree, path string) *bool {
	const name = "omitManagedFields"
	flag, ok := t[name].(bool)
	if !ok {
		if t[name] != nil {
			r.fault(tree.FieldPath(path, name), "must be true or false")
		}
		return nil
	}
	return &flag
}
