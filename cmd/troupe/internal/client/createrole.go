package client

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/kinds/tree"
)

// ruleFlags are the flags for the rules of a role.
type ruleFlags struct{ verbs, resources, names []string }

func (r *ruleFlags) add(f *pflag.FlagSet) {
	f.StringSliceVar(&r.verbs, "verb", nil, "Verbs of the rule: get, list, watch, create, update, patch, delete …, or *.")
	f.StringSliceVar(&r.resources, "resource", nil, "Resources of the rule, such as pods, deployments.apps, pods/log.")
	f.StringSliceVar(&r.names, "resource-name", nil, "Object names of the rule; the default is all.")
}

// rules returns one rule per API group.
func (r *ruleFlags) rules(g *generated) ([]any, error) {
	if len(r.verbs) == 0 {
		return nil, usageError("at least one verb must be specified")
	}
	if len(r.resources) == 0 {
		return nil, usageError("at least one resource must be specified")
	}
	byGroup := map[string][]string{}
	var groups []string
	for _, word := range r.resources {
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
	if len(r.names) > 0 && (len(groups) > 1 || len(byGroup[groups[0]]) > 1) {
		return nil, usageError("resource name(s) can not be specified for more than one resource type")
	}
	var rules []any
	for _, group := range groups {
		rule := tree.Tree{"apiGroups": []any{group}, "resources": tree.ListOf(byGroup[group]), "verbs": tree.ListOf(r.verbs)}
		if len(r.names) > 0 {
			rule["resourceNames"] = tree.ListOf(r.names)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

func role(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	r := &ruleFlags{}
	r.add(f)
	return func(g *generated) (tree.Tree, error) {
		rules, err := r.rules(g)
		return tree.Tree{"rules": rules}, err
	}
}

func clusterRole(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	r := &ruleFlags{}
	r.add(f)
	var urls []string
	f.StringSliceVar(&urls, "non-resource-url", nil, "Paths of the rule instead of resources, such as /metrics.")
	aggregation := f.StringToString("aggregation-rule", nil, "Label selector of the cluster roles to aggregate.")
	return func(g *generated) (tree.Tree, error) {
		if len(*aggregation) > 0 {
			labels := tree.Tree{}
			for name, value := range *aggregation {
				labels[name] = value
			}
			return tree.Tree{"aggregationRule": tree.Tree{"clusterRoleSelectors": []any{tree.Tree{"matchLabels": labels}}}}, nil
		}
		var rules []any
		if len(urls) > 0 {
			if len(r.verbs) == 0 {
				return nil, usageError("at least one verb must be specified")
			}
			rules = append(rules, tree.Tree{"nonResourceURLs": tree.ListOf(urls), "verbs": tree.ListOf(r.verbs)})
		}
		if len(r.resources) > 0 || len(urls) == 0 {
			more, err := r.rules(g)
			if err != nil {
				return nil, err
			}
			rules = append(more, rules...)
		}
		return tree.Tree{"rules": rules}, nil
	}
}
