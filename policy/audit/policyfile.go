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
	"github.com/troupe-api/troupe/kinds/schema"
	"sigs.k8s.io/yaml"
)

// Load reads a Policy from a file in YAML or JSON. The error names the file and every fault
// in it, by the path of the field.
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

// Parse reads a Policy in YAML or JSON.
func Parse(text []byte, naming *meta.Naming) (*Policy, error) {
	doc, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	value, _, err := codec.DecodeAny(doc)
	if err != nil {
		return nil, err
	}
	tree, ok := value.(schema.Tree)
	if !ok {
		return nil, errors.New("a policy must be a map")
	}
	r := &reader{}
	p := r.policy(tree, naming.Group("audit")+"/v1")
	return p, errors.Join(r.faults...)
}

// A reader gathers the faults of a policy while it reads it.
type reader struct{ faults []error }

func (r *reader) fault(path, text string) { r.faults = append(r.faults, errors.New(path+": "+text)) }

func (r *reader) policy(t schema.Tree, apiVersion string) *Policy {
	r.known(t, "", "apiVersion", "kind", "metadata", "rules", "omitStages", "omitManagedFields")
	if have := rules.Text(t, "apiVersion"); have != apiVersion {
		r.fault("apiVersion", fmt.Sprintf("%q is not %q", have, apiVersion))
	}
	if kind := rules.Text(t, "kind"); kind != "Policy" {
		r.fault("kind", fmt.Sprintf("%q is not \"Policy\"", kind))
	}
	p := &Policy{omit: r.stages(t, "")}
	if flag := r.flag(t, ""); flag != nil {
		p.omitManagedFields = *flag
	}
	list := r.trees(t, "", "rules")
	if len(list) == 0 {
		r.fault("rules", "there must be at least one")
	}
	for i, rule := range list {
		p.rules = append(p.rules, r.rule(rule, rules.At("rules", i), p.omitManagedFields))
	}
	return p
}

func (r *reader) rule(t schema.Tree, path string, omitManagedFields bool) rule {
	r.known(t, path, "level", "users", "userGroups", "verbs", "resources", "namespaces", "nonResourceURLs", "omitStages", "omitManagedFields")
	made := rule{
		users: r.texts(t, path, "users"), groups: r.texts(t, path, "userGroups"), verbs: r.texts(t, path, "verbs"),
		namespaces: r.texts(t, path, "namespaces"), paths: r.texts(t, path, "nonResourceURLs"),
		omit: r.stages(t, path), omitManagedFields: omitManagedFields,
	}
	level, ok := parseLevel(rules.Text(t, "level"))
	if !ok {
		r.fault(path+".level", fmt.Sprintf("%v is none of %s", t["level"], strings.Join(levelNames, ", ")))
	}
	made.level = level
	if flag := r.flag(t, path); flag != nil {
		made.omitManagedFields = *flag
	}
	for i, pattern := range made.paths {
		r.pattern(pattern, rules.At(path+".nonResourceURLs", i))
	}
	for i, one := range r.trees(t, path, "resources") {
		made.resources = append(made.resources, r.resources(one, rules.At(path+".resources", i)))
	}
	if len(made.paths) > 0 && len(made.resources)+len(made.namespaces) > 0 {
		r.fault(path+".nonResourceURLs", "goes together with neither resources nor namespaces")
	}
	return made
}

func (r *reader) pattern(pattern, path string) {
	switch {
	case pattern == "*":
	case !strings.HasPrefix(pattern, "/"):
		r.fault(path, fmt.Sprintf("%q must begin with a slash", pattern))
	case strings.Contains(pattern[:len(pattern)-1], "*"):
		r.fault(path, fmt.Sprintf("%q holds a * that is not its last character", pattern))
	}
}

func (r *reader) resources(t schema.Tree, path string) resources {
	r.known(t, path, "group", "resources", "resourceNames")
	group, ok := t["group"].(string)
	if !ok && t["group"] != nil {
		r.fault(path+".group", "must be text")
	}
	if group != "" {
		for _, text := range rules.Subdomain(group) {
			r.fault(path+".group", fmt.Sprintf("%q: %s", group, text))
		}
	}
	made := resources{group: group, names: r.texts(t, path, "resources"), objects: r.texts(t, path, "resourceNames")}
	if len(made.objects) > 0 && len(made.names) == 0 {
		r.fault(path+".resourceNames", "needs at least one of resources")
	}
	return made
}

// known finds fields that do not exist.
func (r *reader) known(t schema.Tree, path string, names ...string) {
	for _, name := range rules.Keys(t) {
		if !slices.Contains(names, name) {
			r.fault(rules.Join(path, name), "there is no such field")
		}
	}
}

func (r *reader) trees(t schema.Tree, path, name string) (list []schema.Tree) {
	for i, item := range r.list(t, path, name) {
		tree, ok := item.(schema.Tree)
		if !ok {
			r.fault(rules.At(rules.Join(path, name), i), "must be a map")
		}
		list = append(list, tree)
	}
	return list
}

func (r *reader) texts(t schema.Tree, path, name string) (list []string) {
	for i, item := range r.list(t, path, name) {
		text, ok := item.(string)
		if !ok {
			r.fault(rules.At(rules.Join(path, name), i), "must be text")
		}
		list = append(list, text)
	}
	return list
}

func (r *reader) list(t schema.Tree, path, name string) []any {
	list, ok := t[name].([]any)
	if !ok && t[name] != nil {
		r.fault(rules.Join(path, name), "must be a list")
	}
	return list
}

func (r *reader) stages(t schema.Tree, path string) (set stages) {
	for i, name := range r.texts(t, path, "omitStages") {
		if !set.add(name) {
			r.fault(rules.At(rules.Join(path, "omitStages"), i), fmt.Sprintf("%q is none of %s", name, strings.Join(stageNames, ", ")))
		}
	}
	return set
}

// flag is nil if nothing is said.
func (r *reader) flag(t schema.Tree, path string) *bool {
	const name = "omitManagedFields"
	flag, ok := t[name].(bool)
	if !ok {
		if t[name] != nil {
			r.fault(rules.Join(path, name), "must be true or false")
		}
		return nil
	}
	return &flag
}
