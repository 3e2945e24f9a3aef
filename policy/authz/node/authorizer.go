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

// userPrefix is the prefix of node user names, as enforced by the kubelet certificate signer.
const userPrefix = "system:node:"

// Identity returns a user's node name. ok is false if the user lacks the nodes group or the name
// prefix. name is empty if the user name consists only of the prefix.
func Identity(u *authn.User) (name string, ok bool) {
	if u == nil || !u.InGroup(authn.GroupNodes) {
		return "", false
	}
	return strings.CutPrefix(u.Name, userPrefix)
}

// An Authorizer allows the requests that nodes need. It never denies a request.
type Authorizer struct {
	graph          *graph
	leaseNamespace string // namespace of node leases
	rules          map[resource]rule
}

// A resource consists of an API group and a resource name, optionally with "/" and a subresource.
type resource struct{ group, name string }

// A rule reports whether a node may make a request. reason explains a rejection. A rule must not
// block, because it runs for every request of every node.
type rule func(node string, a *authz.Attributes) (allowed bool, reason string)

// New returns an Authorizer after it has read all existing objects. It watches for changes until
// ctx ends.
func New(ctx context.Context, objects policy.Objects, naming *meta.Naming) (*Authorizer, error) {
	a := &Authorizer{graph: newGraph(naming.Translate("platform.io/config.mirror")), leaseNamespace: naming.NodeLeaseNamespace()}
	a.rules = a.newRules(naming)
	followed := map[meta.GroupResource]func(policy.Change){
		{Resource: "pods"}:              a.graph.handlePod,
		{Resource: "persistentvolumes"}: a.graph.handleVolume,
		{Group: "storage.platform.io", Resource: "volumeattachments"}:           a.graph.handleNodeNamed(volumeAttachmentVertex),
		{Group: "resource.platform.io", Resource: "resourceslices"}:             a.graph.handleNodeNamed(resourceSliceVertex),
		{Group: "certificates.platform.io", Resource: "podcertificaterequests"}: a.graph.handleNodeNamed(podCertificateVertex),
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

// Generation returns a number that changes whenever decisions may change.
func (n *Authorizer) Generation() uint64 { return n.graph.generation.Load() }

// Authorize allows a request or has no opinion. It never denies, so that other authorizers can
// grant a node additional rights.
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

// RulesFor returns no rules. For a node, it marks the result as incomplete, because a node's rights
// depend on its Pods.
func (n *Authorizer) RulesFor(user *authn.User, _ string) authz.RuleSet {
	if _, ok := Identity(user); ok {
		return authz.RuleSet{Incomplete: true, EvaluationError: "node authorizer does not support user rule resolution"}
	}
	return authz.RuleSet{}
}
