package webhook

import (
	"context"
	"log/slog"
	"slices"

	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/authz"
)

// Options holds the settings and dependencies of a plugin. All dependencies except Skip are
// required.
type Options struct {
	Naming     *meta.Naming
	Authorizer authz.Authorizer // for match conditions
	Namespaces *match.Namespaces
	Served     match.Served
	Reviews    bool // webhooks may match reviews
	Callers    *Callers
	Metrics    *Metrics
	Conditions *match.ConditionMetrics
	Log        *slog.Logger
	Skip       func(clientConfig tree.Tree) bool // selects webhooks that are never called
}

// A Plugin calls the webhooks of one type.
type Plugin struct {
	sort     sort
	options  Options
	compiler *expressions.Compiler
	hooks    *hooks
}

// MutatingAdmissionWebhook returns the registration of the plugin for mutating webhooks.
func MutatingAdmissionWebhook(o Options) admission.Registration {
	p := newPlugin(mutating, "mutatingwebhookconfigurations", o)
	return p.registration("MutatingAdmissionWebhook", request.Plugin{Stage: request.MayBlock, Mutator: p})
}

// ValidatingAdmissionWebhook returns the registration of the plugin for validating webhooks.
func ValidatingAdmissionWebhook(o Options) admission.Registration {
	p := newPlugin(validating, "validatingwebhookconfigurations", o)
	return p.registration("ValidatingAdmissionWebhook", request.Plugin{Stage: request.MayBlock, Validator: p})
}

func newPlugin(s sort, resource string, o Options) *Plugin {
	p := &Plugin{sort: s, options: o, compiler: expressions.NewCompiler(o.Naming)}
	p.hooks = &hooks{
		resource: meta.GroupResource{Group: "admissionregistration.platform.io", Resource: resource},
		parse:    p.parse, callers: o.Callers, metrics: o.Metrics, configurations: map[string][]*hook{},
	}
	return p
}

func (p *Plugin) registration(name string, runs request.Plugin) admission.Registration {
	return admission.Registration{
		Name: name, Resources: []string{"*"}, Plugin: runs, Caches: []policy.Follower{p.hooks, p.options.Namespaces},
		Selects: func(k *schema.Kind, subresource string) bool { return len(p.hooks.index().Select(k, subresource)) > 0 },
	}
}

// Handles reports whether any webhook matches the request. It also returns true if matching fails,
// for example because the namespace does not exist, so that Admit or Validate returns the error.
func (p *Plugin) Handles(a *request.Attributes) bool {
	return slices.ContainsFunc(p.hooks.index().Select(a.Kind, a.Subresource), func(h *hook) bool {
		kind, err := h.criteria.Match(a, p.options.Namespaces)
		return kind != nil || err != nil
	})
}

func (p *Plugin) log(ctx context.Context, h *hook, outcome string, err error) {
	p.options.Log.WarnContext(ctx, outcome, "webhook", h.name, "configuration", h.configuration, "error", err)
}
