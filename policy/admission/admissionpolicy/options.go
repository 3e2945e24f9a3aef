package admissionpolicy

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/match"
)

// Options configures the plugins for validating and mutating policies.
type Options struct {
	Evaluator
	Compiler *expressions.Compiler
	Params   *Params
	Metrics  *Metrics
	// Conditions counts results of matchConditions.
	Conditions *match.ConditionMetrics
	// AuthorizerWaits is true if authorization may wait for a remote authorizer.
	AuthorizerWaits bool
}

func (o *Options) mayWait(p *expressions.Policy) bool { return o.AuthorizerWaits && p.Authorizes }

// Registrations returns the plugins for validating and mutating policies, and the plugin that
// checks access to params. Policies that may block run in a separate stage.
func Registrations(o Options) []admission.Registration {
	validations := newSource("validatingadmissionpolicies", "validatingadmissionpolicybindings", o.Compiler.Validating, o.Params, o.mayWait)
	mutations := newSource("mutatingadmissionpolicies", "mutatingadmissionpolicybindings", o.Compiler.Mutating, o.Params, o.mayWait)
	all := []admission.Registration{(&access{Options: &o, validating: validations, mutating: mutations}).registration()}
	register := func(name string, p *plugin, r request.Plugin) {
		all = append(all, admission.Registration{
			Name: name, Resources: []string{"*"}, Selects: p.selects,
			Caches: append([]policy.Follower{o.Namespaces}, p.source.followers...), Plugin: r,
		})
	}
	for _, stage := range []request.Stage{request.InTurn, request.MayBlock} {
		v := &validating{plugin{&o, validations, stage}, o.Naming.Group("validation.policy.admission") + "/validation_failure"}
		m := &mutating{plugin{&o, mutations, stage}}
		register("ValidatingAdmissionPolicy", &v.plugin, request.Plugin{Stage: stage, Validator: v})
		register("MutatingAdmissionPolicy", &m.plugin, request.Plugin{Stage: stage, Mutator: m})
	}
	return all
}

// A plugin runs a Source's policies in one stage.
type plugin struct {
	*Options
	source *Source
	stage  request.Stage
}

func (p *plugin) hooks(k *schema.Kind, subresource string) []*hook {
	s := p.source.current.Load()
	if p.stage == request.InTurn {
		return s.inTurn.Select(k, subresource)
	}
	return s.waiting.Select(k, subresource)
}

func (p *plugin) selects(k *schema.Kind, subresource string) bool {
	return len(p.hooks(k, subresource)) > 0
}

// Handles reports whether any policy may match, without evaluating expressions.
func (p *plugin) Handles(a *request.Attributes) bool {
	hooks := p.hooks(a.Kind, a.Subresource)
	if p.stage == request.InTurn {
		return len(hooks) > 0
	}
	return slices.ContainsFunc(hooks, func(h *hook) bool { return h.criteria.MayMatch(a) })
}
