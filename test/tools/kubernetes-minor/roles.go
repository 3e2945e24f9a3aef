package main

import (
	"fmt"
	"path"
	"strings"

	rbac "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// readRoles adds the default roles that exist with all feature gates on.
func (i inventory) readRoles(s *source) error {
	for _, name := range []string{"cluster-role-bindings", "cluster-roles-featuregates", "controller-role-bindings", "controller-roles", "namespace-role-bindings", "namespace-roles"} {
		text, err := s.read("plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata/" + name + ".yaml")
		if err != nil {
			return err
		}
		if err := i.addRoles(text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// A grant is a Role, ClusterRole, RoleBinding or ClusterRoleBinding.
type grant struct {
	rbac.ClusterRole
	RoleRef  rbac.RoleRef
	Subjects []rbac.Subject
}

// addRoles adds a list of roles or bindings, in JSON or YAML. Each token is a resource or path,
// with its verbs as attributes.
func (i inventory) addRoles(text []byte) error {
	var list struct {
		Kind  string // kind of the list, such as RoleList; its items omit the kind
		Items []grant
	}
	if err := yaml.Unmarshal(text, &list); err != nil {
		return err
	}
	for _, g := range list.Items {
		kind := g.Kind
		if kind == "" {
			kind = strings.TrimSuffix(list.Kind, "List")
		}
		item := strings.Trim(kind+"/"+g.Namespace, "/") + "/" + g.Name
		for label := range g.Labels {
			i.add("roles", item, "labels", label)
		}
		if g.AggregationRule != nil { // the rules are aggregated from other roles
			g.Rules = nil
			for _, selector := range g.AggregationRule.ClusterRoleSelectors {
				for label := range selector.MatchLabels {
					i.add("roles", item, "aggregates", label)
				}
			}
		}
		for _, r := range g.Rules {
			for _, url := range r.NonResourceURLs {
				i.add("roles", item, url, r.Verbs...)
			}
			for _, group := range r.APIGroups {
				for _, resource := range r.Resources {
					for _, name := range append(r.ResourceNames, "")[:max(1, len(r.ResourceNames))] {
						i.add("roles", item, path.Join(group, resource, name), r.Verbs...)
					}
				}
			}
		}
		if g.RoleRef.Name != "" {
			i.add("roles", item, "role", g.RoleRef.Name)
		}
		for _, subject := range g.Subjects {
			i.add("roles", item, "subjects", strings.Join([]string{subject.Kind, subject.Namespace, subject.Name}, "/"))
		}
	}
	return nil
}
