package admissionpolicy

import (
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/match"
)

// Options are what both plugins stand on.
type Options struct {
	Evaluator
	Compiler *expressions.Compiler
	Params   *Params
	Metrics  *Metrics
	// Conditions count what matchConditions come to.
	Conditions *match.ConditionMetrics
	// AuthorizerWaits: the authorizer may ask a remote one, which takes long.
	AuthorizerWaits bool
}

// mayWait tells whether a policy is to be evaluated where it may wait.
func (o *Options) mayWait(p *expressions.Policy) bool { return o.AuthorizerWaits && p.Authorizes }

// Registrations are the plugins of validating and of mutating policies, and one that keeps users from
// reading by a policy what they may not read. Each Follower is started once for all plugins that name it.
// Params have none of their own: a Source tells them what to follow.
func Registrations(o Options) []admission.Registration {
	v, m := newValidating(&o), newMutating(&o)
	x := &access{&o, v.source, m.source}
	caches := func(s *Source) []policy.Follower { return append([]policy.Follower{o.Namespaces}, s.followers()...) }
	return []admission.Registration{
		{Name: "ValidatingAdmissionPolicy", Resources: []string{"*"}, Plugin: v, Waiting: waitingValidating{v}, Caches: caches(v.source)},
		{Name: "MutatingAdmissionPolicy", Resources: []string{"*"}, Plugin: m, Waiting: waitingMutating{m}, Caches: caches(m.source)},
		x.registration(),
	}
}
