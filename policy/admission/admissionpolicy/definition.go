package admissionpolicy

import (
	"errors"

	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission/match"
)

// A definition is a policy, read and compiled. It never changes: a new one takes its place, so that
// evaluations under way keep theirs.
type definition struct {
	name     string
	spec     tree.Tree // nil for one whose bindings are there and which itself is not
	criteria *match.Criteria
	compiled *expressions.Policy
	// ignores: the failurePolicy is Ignore.
	ignores bool
	// params is the kind of the parameters; nil if there are none.
	params *meta.GroupVersionKind
	// messages are those of the validations that have no messageExpression, reasons are theirs.
	messages []string
	reasons  []meta.Reason
	// patchTypes are those of the mutations.
	patchTypes   []string
	reinvocation bool // of a mutating policy: IfNeeded
	fault        error
}

// parseDefinition reads a policy. A fault in the policy is kept and counts for each request that it
// matches; without readable criteria it matches nothing that could be told, hence the empty ones.
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

// A binding puts a policy to work.
type binding struct {
	name, policy string
	criteria     *match.Criteria
	param        paramRef
	actions      []string // validationActions
	fault        error
}

// parseBinding reads a binding. It does not need the policy, which may come later.
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
