package webhook

import (
	"context"
	"log/slog"
	"slices"

	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/authz"
)

// Options are what a plugin needs. All are required.
type Options struct {
	Naming     *meta.Naming
	Authorizer authz.Authorizer // for match conditions
	Namespaces *match.Namespaces
	Served     match.Served
	Callers    *Callers
	Metrics    *Metrics
	Conditions *match.ConditionMetrics
	Log        *slog.Logger
}

// A Plugin asks the hooks of one sort.
type Plugin struct {
	sort     sort
	options  Options
	compiler *expressions.Compiler
	hooks    *hooks
}

// MutatingAdmissionWebhook asks webhooks that may change objects.
func MutatingAdmissionWebhook(o Options) admission.Registration {
	return register("MutatingAdmissionWebhook", mutating, "mutatingwebhookconfigurations", o)
}

// ValidatingAdmissionWebhook asks webhooks that may refuse changes.
func ValidatingAdmissionWebhook(o Options) admission.Registration {
	return register("ValidatingAdmissionWebhook", validating, "validatingwebhookconfigurations", o)
}

// Webhooks wait, so they run on the request's goroutine, never in the turn of the object's owner.
func register(name string, s sort, resource string, o Options) admission.Registration {
	p := &Plugin{sort: s, options: o, compiler: expressions.NewCompiler(o.Naming)}
	p.hooks = newHooks(meta.GroupResource{Group: "admissionregistration.platform.io", Resource: resource}, p.parse, o)
	return admission.Registration{
		Name: name, Resources: []string{"*"}, Waiting: p, Caches: []policy.Follower{p.hooks, o.Namespaces},
	}
}

// Selects implements admission.WaitingPlugin.
func (p *Plugin) Selects(k *schema.Kind, subresource string) bool {
	return len(p.hooks.index().Select(k, subresource)) > 0
}

// Applies implements admission.WaitingPlugin. A request that may be refused because its namespace is not there is one to
// wait for.
func (p *Plugin) Applies(a *admission.Attributes) bool {
	return slices.ContainsFunc(p.hooks.index().Select(a.Kind, a.Subresource), func(h *hook) bool {
		kind, err := h.criteria.Match(a, p.options.Namespaces)
		return kind != nil || err != nil
	})
}

// Begin implements admission.WaitingPlugin. The set of hooks is taken once here, for both rounds.
func (p *Plugin) Begin() admission.WaitingCall {
	if p.sort == mutating {
		return &mutatingCall{plugin: p, index: p.hooks.index(), asked: map[*hook]bool{}, again: map[*hook]bool{}}
	}
	return &validatingCall{plugin: p, index: p.hooks.index()}
}

// log tells operators of a hook that could not be asked.
func (p *Plugin) log(ctx context.Context, h *hook, outcome string, err error) {
	p.options.Log.WarnContext(ctx, outcome, "webhook", h.name, "configuration", h.configuration, "error", err)
}
