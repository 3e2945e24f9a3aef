package rbac

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A defaultRole is a role of every cluster, in platform form. With a namespace it is a Role,
// otherwise a ClusterRole.
type defaultRole struct {
	namespace, name string
	rules           []rule
	// aggregates names the label of the roles whose rules it aggregates; aggregateTo is the label
	// under which it is aggregated itself.
	aggregates, aggregateTo string
	// subjects are the subjects of its binding: "user x", "group x" or "account namespace/name".
	// nil means no binding; an empty list is a binding without subjects.
	subjects []string
	// bindingName is the name of the binding if it differs from that of the role.
	bindingName string
}

func defaultRoles(pages Pages) []defaultRole {
	return slices.Concat(userRoles(), pageRoles(pages.Everybody), systemRoles(pages.Monitoring), nodeRoles(), certificateRoles(), controllerRoles(), namespacedRoles())
}

// coreGroup stands for the core group in lists of groups.
const coreGroup = "core"

// Common combinations of verbs and groups.
const (
	readVerbs                  = "get list watch"
	writeVerbs                 = "create delete deletecollection patch update"
	updateVerbs                = "patch update"
	eventGroups                = coreGroup + " events.platform.io"
	workloadGroups             = "apps extensions" // of workloads
	authorizationGroup         = "authorization.platform.io"
	authenticationGroup        = "authentication.platform.io"
	certificatesGroup          = "certificates.platform.io"
	coordinationGroup          = "coordination.platform.io"
	networkingGroup            = "networking.platform.io"
	storageGroup               = "storage.platform.io"
	storageMigrationGroup      = "storagemigration.platform.io"
	resourceGroup              = "resource.platform.io"
	discoveryGroup             = "discovery.platform.io"
	admissionRegistrationGroup = "admissionregistration.platform.io"
)

// newRule returns a rule from space-separated lists. It sorts them, so that reordering them does
// not change the stored roles.
func newRule(verbs, groups, resources string, names ...string) rule {
	r := rule{verbs: sortedFields(verbs), groups: sortedFields(groups), resources: sortedFields(resources), names: names}
	for i, g := range r.groups {
		if g == coreGroup {
			r.groups[i] = ""
		}
	}
	slices.Sort(r.groups)
	slices.Sort(r.names)
	return r
}

func newPathRule(paths string) rule { return rule{verbs: []string{"get"}, paths: sortedFields(paths)} }

func eventsRule() rule { return newRule("create patch update", eventGroups, "events") }

func sortedFields(s string) []string {
	list := strings.Fields(s)
	slices.Sort(list)
	return list
}

// bindTo returns a list that is not nil even if it is empty, since nil means that there is no
// binding.
func bindTo(subjects ...string) []string { return append([]string{}, subjects...) }

// Metadata of all default roles and bindings, in platform form.
const (
	bootstrappingLabel     = "platform.io/bootstrapping"
	autoupdateAnnotation   = "rbac.authorization.platform.io/autoupdate"
	aggregationLabelPrefix = "rbac.authorization.platform.io/aggregate-to-"
)

// A roleBuilder makes default roles in a naming profile.
type roleBuilder struct{ *meta.Naming }

// The annotation lets Reconcile repair the object at each start; operators set it to "false" to
// keep their version. The label only records the origin.
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

// role returns the Role or ClusterRole. An aggregating role has no rules of its own: a controller
// fills them in from the roles with the label.
func (b roleBuilder) role(s defaultRole) tree.Tree {
	t := tree.Tree{"metadata": b.metadata(s.namespace, s.name)}
	if s.aggregateTo != "" {
		t["metadata"].(tree.Tree)["labels"].(tree.Tree)[b.Translate(aggregationLabelPrefix+s.aggregateTo)] = "true"
	}
	if s.aggregates != "" {
		labels := tree.Tree{b.Translate(aggregationLabelPrefix + s.aggregates): "true"}
		t["aggregationRule"] = tree.Tree{"clusterRoleSelectors": []any{tree.Tree{"matchLabels": labels}}}
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

func (b roleBuilder) names(list []string) []string {
	named := make([]string, len(list))
	for i, s := range list {
		named[i] = b.Translate(s)
	}
	return named
}

func (b roleBuilder) bindingOf(s defaultRole) tree.Tree {
	if s.subjects == nil {
		return nil
	}
	name, kind := s.bindingName, "ClusterRole"
	if name == "" {
		name = s.name
	}
	if s.namespace != "" {
		kind = "Role"
	}
	t := tree.Tree{
		"metadata": b.metadata(s.namespace, name),
		"roleRef":  tree.Tree{"apiGroup": b.Translate(group), "kind": kind, "name": b.Translate(s.name)},
	}
	for _, text := range s.subjects {
		subjects, _ := t["subjects"].([]any)
		t["subjects"] = append(subjects, any(b.subject(text)))
	}
	return t
}

// Groups such as system:authenticated have the same name in every profile.
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
