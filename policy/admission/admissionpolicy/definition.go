package admissionpolicy

import (
	"errors"

	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission/match"
)

// A definition is a compiled policy. It is immutable, so that running evaluations can keep using
// it.
type definition struct {
	name     string
	spec     tree.Tree // nil if only bindings exist
	criteria *match.Criteria
	compiled *expressions.Policy
	ignores  bool
	params   *meta.GroupVersionKind
	// messages and reasons hold each validation's static message and reason.
	messages []string
	reasons  []meta.Reason
	// patchTypes holds the patchType of each mutation.
	patchTypes   []string
	reinvocation bool // reinvocationPolicy is IfNeeded
	fault        error
}

// parseDefinition compiles a policy. If its paramKind is invalid, the policy fails for each
// matching request. If its matchConstraints are invalid, the policy fails for every request.
func parseDefinition(o *policy.Object, served match.Served, compile func(spec tree.Tree) *expressions.Policy) *definition {
	spec := o.Tree.Object("spec")
	d := &definition{
		name: o.Key.Name, spec: spec, compiled: compile(spec), ignores: spec.String("failurePolicy") == "Ignore",
		reinvocation: spec.String("reinvocationPolicy") == "IfNeeded",
	}
	if d.criteria, d.fault = match.ForPolicy(spec.Object("matchConstraints"), served); d.fault != nil {
		d.criteria, _ = match.ForPolicy(nil, served)
	}
	if kind := spec.Object("paramKind"); kind != nil {
		group, version, err := splitAPIVersion(kind.String("apiVersion"))
		d.params, d.fault = &meta.GroupVersionKind{Group: group, Version: version, Kind: kind.String("kind")}, errors.Join(d.fault, err)
	}
	for _, v := range spec.Objects("validations") {
		d.messages = append(d.messages, staticMessage(v))
		reason := meta.Reason(v.String("reason"))
		if reason == meta.ReasonUnknown {
			reason = meta.ReasonInvalid
		}
		d.reasons = append(d.reasons, reason)
	}
	for _, m := range spec.Objects("mutations") {
		d.patchTypes = append(d.patchTypes, m.String("patchType"))
	}
	return d
}

type binding struct {
	name, policy string
	criteria     *match.Criteria
	param        paramRef
	actions      []string // validationActions
	fault        error
}

// parseBinding parses a binding, whose policy may not exist yet.
func parseBinding(o *policy.Object, served match.Served) *binding {
	spec := o.Tree.Object("spec")
	b := &binding{name: o.Key.Name, policy: spec.String("policyName"), actions: spec.Strings("validationActions")}
	if b.criteria, b.fault = match.ForPolicy(spec.Object("matchResources"), served); b.fault != nil {
		b.criteria, _ = match.ForPolicy(nil, served)
	}
	var err error
	if b.param, err = parseParamRef(spec.Object("paramRef")); err != nil {
		b.fault = errors.Join(b.fault, err)
	}
	return b
}
