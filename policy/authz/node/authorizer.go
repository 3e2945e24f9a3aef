package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// userPrefix begins the names of nodes as users. Certificates of kubelets carry such a name, which the
// signer has checked.
const userPrefix = "system:node:"

// Identity is the node that a user is; ok is false if it is none.
//
// Both the group and the prefix are needed. A name without the prefix in the group is no node; the prefix alone is an
// empty name, which is a node that is not known and may do nothing.
func Identity(u *authn.User) (name string, ok bool) {
	if u == nil || !u.InGroup(authn.GroupNodes) {
		return "", false
	}
	return strings.CutPrefix(u.Name, userPrefix)
}

// An Authorizer allows nodes what they need. It denies nothing, and has no opinion on others. The rules are
// a table by resource, made once; what is not in it is left to other authorizers.
type Authorizer struct {
	graph          *graph
	leaseNamespace string // the namespace of the leases of nodes
	rules          map[resource]rule
}

// A resource is a group, a resource and, with a slash, a sub-resource.
type resource struct{ group, name string }

// A rule allows a node to do something with a resource. The reason is why not. A rule must not block: it is
// asked for each request of each node.
type rule func(node string, a *authz.Attributes) (allowed bool, reason string)

// New makes an Authorizer that follows objects until ctx ends. When it returns, all that there
// was has been read.
//
// Only objects that name a node, or that lie on the way from a Pod to a Secret, are followed. Everything else that a
// rule is about is decided by verb and name.
func New(ctx context.Context, objects policy.Objects, naming *meta.Naming) (*Authorizer, error) {
	a := &Authorizer{graph: newGraph(naming.Translate("platform.io/config.mirror")), leaseNamespace: naming.NodeLeaseNamespace()}
	a.rules = a.newRules(naming)
	followed := map[meta.GroupResource]func(policy.Change){
		{Resource: "pods"}:              a.graph.handlePod,
		{Resource: "persistentvolumes"}: a.graph.handleVolume,
		{Group: "storage.platform.io", Resource: "volumeattachments"}: a.graph.handleNodeNamed(volumeAttachmentVertex),
		{Group: "resource.platform.io", Resource: "resourceslices"}:   a.graph.handleNodeNamed(resourceSliceVertex),
	}
	var reading sync.WaitGroup
	faults := make(chan error, len(followed))
	for r, see := range followed {
		reading.Go(func() { faults <- objects.Inform(ctx, r, see) })
	}
	reading.Wait()
	close(faults)
	var all []error
	for err := range faults {
		all = append(all, err)
	}
	if err := errors.Join(all...); err != nil {
		return nil, err
	}
	return a, nil
}

// Generation changes with the stored objects that decisions come from. A decision may be kept for as long
// as it stays the same.
func (n *Authorizer) Generation() uint64 { return n.graph.generation.Load() }

// Authorize implements authz.Authorizer.
//
// It never denies, so that another authorizer can give a node more. A reason without an opinion becomes part of the
// refusal if nobody allows.
func (n *Authorizer) Authorize(a authz.Attributes) (authz.Decision, string) {
	name, ok := Identity(a.User)
	switch {
	case !ok:
		return authz.NoOpinion, ""
	case name == "":
		return authz.NoOpinion, fmt.Sprintf("unknown node for user %q", a.User.Name)
	case !a.ResourceRequest:
		return authz.NoOpinion, ""
	}
	r := resource{a.Group, a.Resource}
	if a.Subresource != "" {
		r.name += "/" + a.Subresource
	}
	decide := n.rules[r]
	if decide == nil {
		return authz.NoOpinion, ""
	}
	allowed, reason := decide(name, &a)
	if allowed {
		return authz.Allow, ""
	}
	return authz.NoOpinion, reason
}

// RulesFor of a node depend on what its Pods need; they are not listed.
func (n *Authorizer) RulesFor(user *authn.User, _ string) authz.RuleSet {
	if _, ok := Identity(user); ok {
		return authz.RuleSet{Incomplete: true, EvaluationError: "node authorizer does not support user rule resolution"}
	}
	return authz.RuleSet{}
}
