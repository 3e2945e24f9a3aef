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

// group is that of roles and their bindings, in platform form.
const group = "rbac.authorization.platform.io"

// An Authorizer allows what roles allow that are bound to the user. It never denies.
type Authorizer struct {
	index *index
	group string // of roles, as clients know it
}

var _ authz.RuleResolver = (*Authorizer)(nil)

// New makes an Authorizer that follows objects until ctx ends. When it returns, all that there
// was has been read.
//
// The four resources are read at the same time, and in any order: a binding may come before its role, whose entry is
// then empty until the role comes.
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

// Resources are those that decisions come from, in platform form.
func Resources() []meta.GroupResource {
	var all []meta.GroupResource
	for _, resource := range []string{"roles", "clusterroles", "rolebindings", "clusterrolebindings"} {
		all = append(all, meta.GroupResource{Group: group, Resource: resource})
	}
	return all
}

// Generation changes with the stored objects that decisions come from.
func (a *Authorizer) Generation() uint64 { return a.index.generation.Load() }

// Authorize implements authz.Authorizer. The reason tells which binding allows, or, if none
// does, which bound roles do not exist.
//
// The grants for the cluster are looked at first, then those of the namespace, subject by subject, and the first that
// allows ends the search. Which one is named in the reason is not specified where several allow. A path that is no
// resource is only allowed by grants for the cluster, since it lies in no namespace.
//
// The cost is one look into a map for each group of the user, and one for each role that it holds.
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

// firstAllowing is the first grant that allows what is asked; nil if none does. It sets lacking if a
// role does not exist.
//
// A missing role must not be reported while another one may still allow, hence the flag instead of an error: the text
// is only made when nothing allows.
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

// userGrants are those of a user for the whole cluster and then those in a namespace, one of each
// binding, by name. It must be called with the lock held.
//
// This is for texts and listings, not for decisions: it allocates, and sorts so that the same user gets the same text
// each time.
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

// missingRolesError says which roles of grants do not exist; "" if all do.
func (a *Authorizer) missingRolesError(list []*grant) string {
	var texts []string
	for _, g := range list {
		if g.entry.role != nil {
			continue
		}
		if text := a.notFound(g.entry.namespacedName); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// notFound says that there is no role at a place, in the words that users know.
func (a *Authorizer) notFound(at namespacedName) string {
	return fmt.Sprintf("%s.%s %q not found", roleResource(at.namespace), a.group, at.name)
}

// roleResource is what errors call a role in a namespace, or one of the cluster.
func roleResource(namespace string) string {
	if namespace == "" {
		return "clusterrole"
	}
	return "role"
}

// heldRules are all that a user holds in a namespace, and which of its roles do not exist.
//
// The lists are shared with the index and must not be changed.
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

// RulesFor implements authz.RuleResolver.
//
// Rules that name the same thing are not merged: a client shows them as the roles have them.
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
