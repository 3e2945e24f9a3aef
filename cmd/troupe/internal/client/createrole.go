package client

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// ruleFlags are the flags for the rules of a role.
type ruleFlags struct{ Verb, Resource, ResourceName []string }

// rules returns one rule per API group.
func (r *ruleFlags) rules(g *generated) ([]any, error) {
	if len(r.Verb) == 0 {
		return nil, usageError("at least one verb must be specified")
	}
	if len(r.Resource) == 0 {
		return nil, usageError("at least one resource must be specified")
	}
	byGroup := map[string][]string{}
	var groups []string
	for _, word := range r.Resource {
		name, sub, hasSub := strings.Cut(word, "/")
		group := ""
		if name == "*" {
			name, group = "*", "*"
		} else {
			found, err := g.catalog.Find(name)
			if err != nil {
				return nil, err
			}
			name, group = found.Name, found.Group
		}
		if hasSub {
			name += "/" + sub
		}
		if _, known := byGroup[group]; !known {
			groups = append(groups, group)
		}
		byGroup[group] = append(byGroup[group], name)
	}
	if len(r.ResourceName) > 0 && (len(groups) > 1 || len(byGroup[groups[0]]) > 1) {
		return nil, usageError("resource name(s) can not be specified for more than one resource type")
	}
	var rules []any
	for _, group := range groups {
		rule := tree.Tree{"apiGroups": []any{group}, "resources": tree.ListOf(byGroup[group]), "verbs": tree.ListOf(r.Verb)}
		if len(r.ResourceName) > 0 {
			rule["resourceNames"] = tree.ListOf(r.ResourceName)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

type role struct{ ruleFlags }

func (r *role) build(g *generated) (tree.Tree, error) {
	rules, err := r.rules(g)
	return tree.Tree{"rules": rules}, err
}

type clusterRole struct {
	ruleFlags
	NonResourceURL  []string
	AggregationRule map[string]string
}

func (r *clusterRole) build(g *generated) (tree.Tree, error) {
	if len(r.AggregationRule) > 0 {
		labels := tree.Tree{}
		for name, value := range r.AggregationRule {
			labels[name] = value
		}
		return tree.Tree{"aggregationRule": tree.Tree{"clusterRoleSelectors": []any{tree.Tree{"matchLabels": labels}}}}, nil
	}
	var rules []any
	if len(r.NonResourceURL) > 0 {
		if len(r.Verb) == 0 {
			return nil, usageError("at least one verb must be specified")
		}
		rules = append(rules, tree.Tree{"nonResourceURLs": tree.ListOf(r.NonResourceURL), "verbs": tree.ListOf(r.Verb)})
	}
	if len(r.Resource) > 0 || len(r.NonResourceURL) == 0 {
		more, err := r.rules(g)
		if err != nil {
			return nil, err
		}
		rules = append(more, rules...)
	}
	return tree.Tree{"rules": rules}, nil
}
