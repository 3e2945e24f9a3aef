package admissionregistration

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateExpressions reports policy expressions that do not compile. old is the previous spec, or
// nil. It skips an unchanged spec, because the expressions may use functions of another server
// version. If the spec has changed, it compiles every expression, because any of them may use a
// changed variable. It skips matchConditions if neither they nor paramKind have changed.
func validateExpressions(compile func(spec tree.Tree) *expressions.Policy, spec, old tree.Tree, faults *schema.Faults) {
	if old != nil && tree.StrictEqual(spec, old) {
		return
	}
	p := compile(spec)
	if old == nil || !tree.SemanticEqual(spec["matchConditions"], old["matchConditions"]) || !tree.SemanticEqual(spec["paramKind"], old["paramKind"]) {
		for i, x := range p.Conditions {
			reportExpression(x, tree.IndexPath("spec.matchConditions", i)+".expression", x.Text, faults)
		}
	}
	for i, x := range p.Variables {
		reportExpression(x, tree.IndexPath("spec.variables", i)+".expression", x.Text, faults)
	}
	for i, x := range p.Validations {
		at := tree.IndexPath("spec.validations", i)
		reportExpression(x, at+".expression", x.Text, faults)
		if message := p.Messages[i]; message != nil {
			reportExpression(message, at+".messageExpression", message.Text, faults)
		}
	}
	for i, a := range spec.Objects("auditAnnotations") {
		reportExpression(p.Annotations[i], tree.IndexPath("spec.auditAnnotations", i)+".valueExpression", a.String("valueExpression"), faults)
	}
	for i, m := range spec.Objects("mutations") {
		if name := expressions.MutationField(m.String("patchType")); m.Has(name) {
			x := p.Mutations[i]
			reportExpression(x, tree.IndexPath("spec.mutations", i)+"."+name+".expression", x.Text, faults)
		}
	}
}

// reportExpression reports a compile error. It skips empty expressions, which structural validation
// reports.
func reportExpression(x *expressions.Expr, path, shown string, faults *schema.Faults) {
	if x.Err != nil && strings.TrimSpace(x.Text) != "" {
		faults.Invalid(path, shown, x.Err.Error())
	}
}
