package match

import (
	"errors"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Criteria selects requests for a webhook, policy or binding. The zero value selects none.
type Criteria struct {
	// everything is true for a policy without rules, which matches all requests.
	everything      bool
	Reviews         bool // also match reviews, such as a TokenReview
	rules, excluded []rule
	equivalent      bool
	served          Served
	namespaces      selector.Labels
	objects         selector.Labels

	compiled memo[*targets]
}

// targets holds the rules that include or exclude one resource, by operation and in their original
// order.
type targets [operations]struct{ matched, excluded []target }

// A target is a rule that matches a resource. version is the index of the matched version, because
// a pointer in the memo would keep the kind in memory. If names is empty, all object names match.
type target struct {
	version int // ownVersion, or an index into Versions
	names   []string
}

// ownVersion in a target means the version of the request.
const ownVersion = -1

// Served reports whether a kind is served. matchPolicy Equivalent ignores unserved kinds.
type Served func(k *schema.Kind) bool

// ForWebhook parses the rules, matchPolicy and selectors of one webhook.
func ForWebhook(hook tree.Tree, served Served) (*Criteria, error) {
	return parse(hook, hook.Objects("rules"), nil, served)
}

// ForPolicy parses a policy's matchConstraints or a binding's matchResources. Without
// resourceRules, all requests match except excluded ones.
func ForPolicy(resources tree.Tree, served Served) (*Criteria, error) {
	c, err := parse(resources, resources.Objects("resourceRules"), resources.Objects("excludeResourceRules"), served)
	if err == nil {
		c.everything = len(c.rules) == 0
	}
	return c, err
}

func parse(t tree.Tree, rules, excluded []tree.Tree, served Served) (*Criteria, error) {
	c := &Criteria{equivalent: t.String("matchPolicy") == "Equivalent", served: served}
	for _, r := range rules {
		c.rules = append(c.rules, parseRule(r))
	}
	for _, r := range excluded {
		c.excluded = append(c.excluded, parseRule(r))
	}
	var namespacesOK, objectsOK bool
	c.namespaces, namespacesOK = selector.FromLabelSelector(t.Object("namespaceSelector"))
	c.objects, objectsOK = selector.FromLabelSelector(t.Object("objectSelector"))
	if !namespacesOK || !objectsOK {
		return nil, errors.New("a label selector has an unknown operator")
	}
	return c, nil
}

// configurations lists resources that never match, so that a bad configuration can be repaired.
var configurations = []string{
	"mutatingwebhookconfigurations", "validatingwebhookconfigurations", "validatingadmissionpolicies",
	"validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
}

// Selects reports whether any request for a resource may match.
func (c *Criteria) Selects(k *schema.Kind, subresource string) bool {
	return c.targets(k, subresource) != nil
}

func (c *Criteria) targets(k *schema.Kind, subresource string) *targets {
	return c.compiled.get(k, subresource, func() *targets { return c.compile(k, subresource) })
}

func (c *Criteria) compile(k *schema.Kind, subresource string) *targets {
	if !k.IsCustom() && (slices.Contains(configurations, k.Resource) || !c.Reviews && strings.HasSuffix(k.Resource, "reviews")) {
		return nil
	}
	var t targets
	some := false
	for o := range operations {
		if c.everything {
			t[o].matched = []target{{version: ownVersion}}
		} else {
			t[o].matched = c.find(c.rules, o, k, subresource)
		}
		t[o].excluded = c.find(c.excluded, o, k, subresource)
		some = some || len(t[o].matched) > 0
	}
	if !some {
		return nil
	}
	return &t
}

// find returns the targets for an operation. Targets for k itself precede targets for equivalent
// kinds.
func (c *Criteria) find(rules []rule, o Operation, k *schema.Kind, subresource string) []target {
	var found []target
	for i := range rules {
		if r := &rules[i]; r.operations[o] && r.matches(k, subresource) {
			found = append(found, target{ownVersion, r.names})
		}
	}
	if !c.equivalent {
		return found
	}
	for i := range rules {
		for version, other := range k.Stored.Versions {
			r := &rules[i]
			if other != k && c.served(other) && (subresource == "" || other.Subresource(subresource) != nil) && r.operations[o] && r.matches(other, subresource) {
				found = append(found, target{version, r.names})
			}
		}
	}
	return found
}

// first finds the first target that matches an object name, and returns its kind, or nil. k is the
// request's kind.
func first(all []target, k *schema.Kind, name string) *schema.Kind {
	for i := range all {
		if len(all[i].names) > 0 && !slices.Contains(all[i].names, name) {
			continue
		}
		if all[i].version == ownVersion {
			return k
		}
		return k.Stored.Versions[all[i].version]
	}
	return nil
}

// Match returns the kind to which the request must be converted, or nil if the request does not
// match. If the namespace does not exist, the error is a *meta.Status.
func (c *Criteria) Match(a *request.Attributes, namespaces *Namespaces) (*schema.Kind, error) {
	t := c.targets(a.Kind, a.Subresource)
	if t == nil {
		return nil, nil
	}
	at, name := &t[OperationOf(a)], nameOf(a)
	kind := first(at.matched, a.Kind, name)
	if kind == nil || first(at.excluded, a.Kind, name) != nil || !c.matchesObject(a) {
		return nil, nil
	}
	matches, err := c.matchesNamespace(a, namespaces)
	if err != nil || !matches {
		return nil, err
	}
	return kind, nil
}

// MayMatch reports whether the rules cover the request. It is cheap, because it ignores selectors.
func (c *Criteria) MayMatch(a *request.Attributes) bool {
	t := c.targets(a.Kind, a.Subresource)
	return t != nil && first(t[OperationOf(a)].matched, a.Kind, nameOf(a)) != nil
}

func nameOf(a *request.Attributes) string {
	if a.Key.Name != "" {
		return a.Key.Name
	}
	return a.New.Name()
}

// matchesObject reports whether the object selector matches the old or the new object. For a
// subresource with its own kind, it checks the bodies instead.
func (c *Criteria) matchesObject(a *request.Attributes) bool {
	if c.objects.Empty() {
		return true
	}
	sub, kind := a.Kind.Subresource(a.Subresource), a.Kind
	old, now := a.Old, a.New
	if sub != nil && sub.BodyKind != nil {
		kind = sub.BodyKind
		if a.Old != nil {
			old, now = bodies(a, sub)
		}
	}
	return c.hasLabels(kind, now) || c.hasLabels(kind, old)
}

// bodies returns the old and new bodies of a subresource with its own kind. A patch request has no
// such body, so bodies reads the new one from the patched object. A create-only subresource has no
// old body.
func bodies(a *request.Attributes, sub *schema.Subresource) (old, now tree.Tree) {
	if sub.View.Read != nil && !CreatesSubresource(a) {
		old = sub.View.Read(a.Old)
	}
	switch {
	case a.Body != nil:
		now = a.Body
	case a.Mutation.Body() != nil:
		now = a.Mutation.Body()
	case sub.View.Read != nil && a.New != nil:
		now = sub.View.Read(a.New)
	}
	return old, now
}

func (c *Criteria) hasLabels(k *schema.Kind, object tree.Tree) bool {
	return object != nil && k.Message().Field("metadata") != nil && c.objects.Matches(selector.LabelsOf(object.Labels()))
}

// matchesNamespace reports whether the namespace selector matches. Cluster-scoped objects other
// than Namespaces always match.
func (c *Criteria) matchesNamespace(a *request.Attributes, namespaces *Namespaces) (bool, error) {
	isNamespace := isNamespace(a.Kind)
	if c.namespaces.Empty() || !a.Kind.Namespaced && !isNamespace {
		return true, nil
	}
	if isNamespace && a.Subresource == "" && a.New != nil {
		return c.namespaces.Matches(selector.LabelsOf(a.New.Labels())), nil
	}
	name := NamespaceOf(a)
	labels, ok := namespaces.Labels(name)
	if !ok {
		return false, meta.NewNotFound(namespacesResource, name)
	}
	return c.namespaces.Matches(labels), nil
}

// NamespaceOf returns a request's namespace: a Namespace's own name, or "" for other cluster-scoped
// objects.
func NamespaceOf(a *request.Attributes) string {
	if isNamespace(a.Kind) {
		return nameOf(a)
	}
	return a.Key.Namespace
}

func isNamespace(k *schema.Kind) bool { return k.Group == "" && k.Resource == "namespaces" }
