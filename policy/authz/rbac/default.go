package rbac

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A standard is a role that every cluster has, in platform form. In a namespace it is a Role,
// else a ClusterRole.
type standard struct {
	namespace, name string
	rules           []rule
	// gathers names the label, if any, of the roles whose rules it gathers; into is that
	// under which it is gathered itself.
	gathers, into string
	// bound are the subjects of the binding that goes with it: "user x", "group x" or
	// "account namespace/name". Nil is no binding, which empty is one without subjects.
	bound []string
	// binding is the name of the binding where it is not that of the role.
	binding string
}

// standards are all of them.
func standards() []standard {
	return slices.Concat(userRoles(), systemRoles(), nodeRoles(), certificateRoles(), controllerRoles(), localRoles())
}

// core stands for the group without a name in lists of groups.
const core = "core"

// Verbs and resources that go together.
const (
	reads        = "get list watch"
	writes       = "create delete deletecollection patch update"
	changes      = "patch update"
	eventGroups  = core + " events.platform.io"
	olderGroups  = "apps extensions" // of the workloads
	reviewGroup  = "authorization.platform.io"
	tokenGroup   = "authentication.platform.io"
	signing      = "certificates.platform.io"
	leasing      = "coordination.platform.io"
	networking   = "networking.platform.io"
	storage      = "storage.platform.io"
	devices      = "resource.platform.io"
	slicing      = "discovery.platform.io"
	registration = "admissionregistration.platform.io"
)

// may is the rule that allows verbs on resources of groups, each a list with blanks, and with
// names only on the objects called so.
func may(verbs, groups, resources string, names ...string) rule {
	r := rule{verbs: words(verbs), groups: words(groups), resources: words(resources), names: names}
	for i, g := range r.groups {
		if g == core {
			r.groups[i] = ""
		}
	}
	slices.Sort(r.groups)
	slices.Sort(r.names)
	return r
}

// reach is the rule that allows to read paths.
func reach(paths string) rule { return rule{verbs: []string{"get"}, paths: words(paths)} }

// tell is the rule that allows to write events.
func tell() rule { return may("create patch update", eventGroups, "events") }

func words(s string) []string {
	list := strings.Fields(s)
	slices.Sort(list)
	return list
}

func to(subjects ...string) []string { return append([]string{}, subjects...) }

// The metadata of all standards, in platform form.
const (
	bootstrapping = "platform.io/bootstrapping"
	autoupdate    = "rbac.authorization.platform.io/autoupdate"
	gathering     = "rbac.authorization.platform.io/aggregate-to-"
)

// A builder gives standards the names of a profile.
type builder struct{ *meta.Naming }

func (b builder) metadata(namespace, name string) schema.Tree {
	t := schema.Tree{
		"name":        b.Name(name),
		"labels":      schema.Tree{b.Name(bootstrapping): "rbac-defaults"},
		"annotations": schema.Tree{b.Name(autoupdate): "true"},
	}
	if namespace != "" {
		t["namespace"] = b.Name(namespace)
	}
	return t
}

// role is the Role or ClusterRole.
func (b builder) role(s standard) schema.Tree {
	t := schema.Tree{"metadata": b.metadata(s.namespace, s.name)}
	if s.into != "" {
		t["metadata"].(schema.Tree)["labels"].(schema.Tree)[b.Name(gathering+s.into)] = "true"
	}
	if s.gathers != "" {
		labels := schema.Tree{b.Name(gathering + s.gathers): "true"}
		t["aggregationRule"] = schema.Tree{"clusterRoleSelectors": []any{schema.Tree{"matchLabels": labels}}}
		return t
	}
	items := make([]any, len(s.rules))
	for i, r := range s.rules {
		r.groups, r.names = b.names(r.groups), b.names(r.names)
		items[i] = r.tree()
	}
	t["rules"] = items
	return t
}

func (b builder) names(list []string) []string {
	named := make([]string, len(list))
	for i, s := range list {
		named[i] = b.Name(s)
	}
	return named
}

// bindingOf is the RoleBinding or ClusterRoleBinding; nil if none goes with it.
func (b builder) bindingOf(s standard) schema.Tree {
	if s.bound == nil {
		return nil
	}
	name, kind := s.binding, "ClusterRole"
	if name == "" {
		name = s.name
	}
	if s.namespace != "" {
		kind = "Role"
	}
	t := schema.Tree{
		"metadata": b.metadata(s.namespace, name),
		"roleRef":  schema.Tree{"apiGroup": b.Name(group), "kind": kind, "name": b.Name(s.name)},
	}
	for _, text := range s.bound {
		subjects, _ := t["subjects"].([]any)
		t["subjects"] = append(subjects, any(b.subject(text)))
	}
	return t
}

func (b builder) subject(text string) schema.Tree {
	what, name, _ := strings.Cut(text, " ")
	switch what {
	case "account":
		namespace, name, _ := strings.Cut(name, "/")
		return schema.Tree{"kind": "ServiceAccount", "name": b.Name(name), "namespace": b.Name(namespace)}
	case "group":
		return schema.Tree{"kind": "Group", "apiGroup": b.Name(group), "name": name}
	}
	return schema.Tree{"kind": "User", "apiGroup": b.Name(group), "name": b.Name(name)}
}
