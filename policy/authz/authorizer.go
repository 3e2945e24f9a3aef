package authz

import (
	"sync/atomic"

	"github.com/troupe-api/troupe/policy/authn"
)

type Decision uint8

// Decisions of an Authorizer. After NoOpinion or Failed, the next authorizer is tried. Failed means
// that the authorizer could not decide, for example because a remote service did not respond.
const (
	NoOpinion Decision = iota
	Allow
	Deny
	Failed
)

// Current is a RuleResolver that can be replaced.
type Current struct{ atomic.Pointer[RuleResolver] }

func (c *Current) Authorize(a Attributes) (Decision, string) { return (*c.Load()).Authorize(a) }

func (c *Current) RulesFor(user *authn.User, namespace string) RuleSet {
	return (*c.Load()).RulesFor(user, namespace)
}

// An Authorizer is one authorization mode. It must be safe for concurrent use. reason is a brief
// explanation of the decision, and may be empty.
type Authorizer interface {
	Authorize(a Attributes) (d Decision, reason string)
}

// Union returns an Authorizer that tries modes in order until one allows or denies the request. If
// none does, the decision is Failed if any mode failed, and NoOpinion otherwise. reason then
// combines the reasons of all modes.
func Union(modes ...Authorizer) RuleResolver { return union(modes) }

type union []Authorizer

func (modes union) Authorize(a Attributes) (Decision, string) {
	reasons, last := "", NoOpinion
	for _, m := range modes {
		d, reason := m.Authorize(a)
		switch d {
		case Allow, Deny:
			return d, reason
		case Failed:
			last = Failed
		}
		if reason != "" && reasons != "" {
			reasons += ", "
		}
		reasons += reason
	}
	return last, reasons
}
