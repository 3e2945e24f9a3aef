package rbac

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

const group = "rbac.authorization.platform.io"

// An Authorizer allows requests by the roles bound to the user. It never denies a request.
type Authorizer struct {
	index *index
	group string // API group of roles in the naming profile
}

var _ authz.RuleResolver = (*Authorizer)(nil)

// New returns an Authorizer that watches the four RBAC resources until ctx ends. It reads them
// concurrently, so a binding may arrive before its role.
func New(ctx context.Context, objects policy.Objects, naming *meta.Naming) (*Authorizer, error) {
	a := &Authorizer{index: newIndex(), group: naming.Translate(group)}
	var reading sync.WaitGroup
	followed := Resources()
	errs := make([]error, len(followed))
	for i, resource := range followed {
		see := a.index.handleRole
		if strings.HasSuffix(resource.Resource, "bindings") {
			see = a.index.handleBinding
		}
		reading.Go(func() { errs[i] = objects.Inform(ctx, resource, see) })
	}
	reading.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return a, nil
}

// Resources returns the resources that decisions depend on, with their names in the platform naming
// profile.
func Resources() []meta.GroupResource {
	var all []meta.GroupResource
	for _, resource := range []string{"roles", "clusterroles", "rolebindings", "clusterrolebindings"} {
		all = append(all, meta.GroupResource{Group: group, Resource: resource})
	}
	return all
}

// Generation returns a number that changes whenever decisions may change.
func (a *Authorizer) Generation() uint64 { return a.index.generation.Load() }

// Authorize checks the role bindings of the user and of each group in turn. It checks
// ClusterRoleBindings before RoleBindings in the namespace. Only ClusterRoleBindings allow
// non-resource paths. The reason names the first binding that allows the request. If there is none,
// it names the bound roles that do not exist.
func (a *Authorizer) Authorize(asked authz.Attributes) (authz.Decision, string) {
	if asked.User == nil {
		return authz.NoOpinion, ""
	}
	x := a.index
	x.mu.RLock()
	defer x.mu.RUnlock()
	lacking := false
	for i := range len(asked.User.Groups) + 1 {
		held := x.subjectGrants(asked.User, i)
		if held == nil {
			continue
		}
		g := firstAllowing(held.cluster, &asked, &lacking)
		if g == nil && asked.ResourceRequest && asked.Namespace != "" {
			g = firstAllowing(held.byNamespace[asked.Namespace], &asked, &lacking)
		}
		if g != nil {
			return authz.Allow, g.reason
		}
	}
	if !lacking {
		return authz.NoOpinion, ""
	}
	namespace := asked.Namespace
	if !asked.ResourceRequest {
		namespace = ""
	}
	return authz.NoOpinion, "RBAC: " + a.missingRolesError(x.userGrants(asked.User, namespace))
}

// firstAllowing returns the first grant that allows the request, or nil. If the role of a grant
// does not exist, it sets *lacking.
func firstAllowing(list []*grant, asked *authz.Attributes, lacking *bool) *grant {
	for _, g := range list {
		r := g.entry.role
		switch {
		case r == nil:
			*lacking = true
		case r.allows(asked):
			return g
		}
	}
	return nil
}

// userGrants returns the user's cluster-wide grants, followed by those in a namespace. They are
// sorted by binding name, so that messages are stable. It allocates, so decisions do not use it.
// The caller holds the lock.
func (x *index) userGrants(user *authn.User, namespace string) []*grant {
	var all []*grant
	for i := range len(user.Groups) + 1 {
		held := x.subjectGrants(user, i)
		if held == nil {
			continue
		}
		all = append(all, held.cluster...)
		if namespace != "" {
			all = append(all, held.byNamespace[namespace]...)
		}
	}
	slices.SortStableFunc(all, func(a, b *grant) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
	})
	return slices.CompactFunc(all, func(a, b *grant) bool { return a.binding == b.binding })
}

func (a *Authorizer) missingRolesError(list []*grant) string {
	var texts []string
	for _, g := range list {
		if g.entry.role != nil {
			continue
		}
		if text := fmt.Sprintf("%s.%s %q not found", roleResource(g.entry.namespace), a.group, g.entry.name); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

func roleResource(namespace string) string {
	if namespace == "" {
		return "clusterrole"
	}
	return "role"
}

// heldRules returns the rules of a user in a namespace. lacking is an error message that lists
// bound roles that do not exist. The rules are shared with the index and must not be modified.
func (a *Authorizer) heldRules(user *authn.User, namespace string) (all []rule, lacking string) {
	a.index.mu.RLock()
	defer a.index.mu.RUnlock()
	list := a.index.userGrants(user, namespace)
	for _, g := range list {
		if g.entry.role != nil {
			all = append(all, g.entry.role.rules...)
		}
	}
	return all, a.missingRolesError(list)
}

// RulesFor returns the rules of all the user's roles, without merging them.
func (a *Authorizer) RulesFor(user *authn.User, namespace string) authz.RuleSet {
	var p authz.RuleSet
	if user == nil {
		return p
	}
	all, lacking := a.heldRules(user, namespace)
	for _, r := range all {
		if len(r.resources) > 0 {
			p.ResourceRules = append(p.ResourceRules, authz.ResourceRule{Verbs: r.verbs, Groups: r.groups, Resources: r.resources, Names: r.names})
		}
		if len(r.paths) > 0 {
			p.NonResourceRules = append(p.NonResourceRules, authz.NonResourceRule{Verbs: r.verbs, Paths: r.paths})
		}
	}
	p.EvaluationError = lacking
	return p
}
