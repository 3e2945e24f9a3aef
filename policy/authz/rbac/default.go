package rbac

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/internal/embedded"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

//go:embed defaults.json
var defaultsTable []byte

// A defaultRole is a role that each cluster has. defaults.json describes the fields.
type defaultRole struct {
	Namespace, Name                          string
	Rules                                    []map[string][]string
	Aggregates, AggregateTo, Binding, Served string
	Subjects                                 []string
}

// defaultRoles returns the default roles for the resources and paths that this server serves.
func defaultRoles(kinds *catalog.Catalog, pages Pages) (roles []defaultRole) {
	embedded.Decode(defaultsTable, &roles)
	const paths = "nonResourceURLs"
	return slices.DeleteFunc(roles, func(s defaultRole) bool {
		switch s.Name {
		case "system:monitoring":
			s.Rules[0][paths] = slices.Sorted(slices.Values(append(s.Rules[0][paths], pages.Monitoring...)))
		case "system:console":
			s.Rules[0][paths] = slices.Sorted(slices.Values(pages.Everybody))
			return len(pages.Everybody) == 0
		}
		return s.Served != "" && !isServed(kinds, s.Served)
	})
}

func isServed(kinds *catalog.Catalog, name string) bool {
	group, resource, _ := strings.Cut(kinds.Naming().Translate(name), "/")
	return slices.ContainsFunc(kinds.Kinds(), func(k *schema.Kind) bool { return k.Resource == resource && k.Group == group })
}

// Metadata of all default roles and bindings, with names in the platform naming profile.
const (
	bootstrappingLabel     = "platform.io/bootstrapping"
	autoupdateAnnotation   = "rbac.authorization.platform.io/autoupdate"
	aggregationLabelPrefix = "rbac.authorization.platform.io/aggregate-to-"
)

type roleBuilder struct{ *meta.Naming }

// metadata returns an object's metadata. The autoupdate annotation lets Reconcile repair the object
// at each startup. Operators can set it to "false" to keep their own version. The bootstrapping
// label only records that the object is a default.
func (b roleBuilder) metadata(namespace, name string) tree.Tree {
	t := tree.Tree{
		"name":        b.Translate(name),
		"labels":      tree.Tree{b.Translate(bootstrappingLabel): "rbac-defaults"},
		"annotations": tree.Tree{b.Translate(autoupdateAnnotation): "true"},
	}
	if namespace != "" {
		t["namespace"] = b.Translate(namespace)
	}
	return t
}

// role returns the Role or ClusterRole. An aggregating role has no rules, because a controller adds
// them.
func (b roleBuilder) role(s defaultRole) tree.Tree {
	t := tree.Tree{"metadata": b.metadata(s.Namespace, s.Name)}
	if s.AggregateTo != "" {
		t["metadata"].(tree.Tree)["labels"].(tree.Tree)[b.Translate(aggregationLabelPrefix+s.AggregateTo)] = "true"
	}
	if s.Aggregates != "" {
		labels := tree.Tree{b.Translate(aggregationLabelPrefix + s.Aggregates): "true"}
		t["aggregationRule"] = tree.Tree{"clusterRoleSelectors": []any{tree.Tree{"matchLabels": labels}}}
		return t
	}
	items := make([]any, len(s.Rules))
	for i, r := range s.Rules {
		item := tree.Tree{}
		for field, values := range r {
			for j := range values {
				values[j] = b.Translate(values[j])
			}
			item[field] = tree.ListOf(values)
		}
		items[i] = item
	}
	t["rules"] = items
	return t
}

func (b roleBuilder) bindingOf(s defaultRole) tree.Tree {
	if s.Subjects == nil {
		return nil
	}
	name, kind := s.Binding, "ClusterRole"
	if name == "" {
		name = s.Name
	}
	if s.Namespace != "" {
		kind = "Role"
	}
	t := tree.Tree{
		"metadata": b.metadata(s.Namespace, name),
		"roleRef":  tree.Tree{"apiGroup": b.Translate(group), "kind": kind, "name": b.Translate(s.Name)},
	}
	for _, text := range s.Subjects {
		subjects, _ := t["subjects"].([]any)
		t["subjects"] = append(subjects, any(b.subject(text)))
	}
	return t
}

// subject returns a binding's subject. Group names are the same in all naming profiles.
func (b roleBuilder) subject(text string) tree.Tree {
	what, name, _ := strings.Cut(text, " ")
	switch what {
	case "account":
		namespace, name, _ := strings.Cut(name, "/")
		return tree.Tree{"kind": "ServiceAccount", "name": b.Translate(name), "namespace": b.Translate(namespace)}
	case "group":
		return tree.Tree{"kind": "Group", "apiGroup": b.Translate(group), "name": name}
	}
	return tree.Tree{"kind": "User", "apiGroup": b.Translate(group), "name": b.Translate(name)}
}
