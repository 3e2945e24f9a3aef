package apiextensions

import (
	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Kinds returns the group's kinds with their strategies.
func Kinds(n *meta.Naming) []schema.Behavior {
	return []schema.Behavior{
		{Name: "apiextensions.platform.io/v1/CustomResourceDefinition", Strategy: &definitionStrategy{
			formats: crd.NewFormats(n), lostFields: lostFieldFinder{crd.NewExtensions(n)}, finalizer: n.Translate(crd.CleanupFinalizer),
		}},
	}
}

type definitionChecks struct {
	keys      crd.Extensions
	compiler  *crd.Compiler
	approvals *crd.ApprovalPolicy
}

// RuleFunctions returns the functions that declarative rules call by name. isBuiltIn
// reports whether group has built-in kinds.
func RuleFunctions(n *meta.Naming, compiler *crd.Compiler, isBuiltIn func(group string) bool) map[string]schema.CheckFunc {
	c := definitionChecks{crd.NewExtensions(n), compiler, crd.NewApprovalPolicy(n)}
	return map[string]schema.CheckFunc{
		"definitionApproval": pairCheck(c.validateApproval),
		// A new CRD may not use a built-in group. A stored CRD still loads if an upgrade makes its
		// group built-in.
		"definitionGroup": schema.TextCheck(func(group, path string, faults *schema.Faults) {
			if isBuiltIn(group) {
				faults.Invalid(path, group, "must not be a group of built-in kinds")
			}
		}),
		"definitionSchema":   pairCheck(c.validateSchema),
		"deprecationWarning": schema.TextCheck(validateDeprecationWarning),
		"replacedCABundle":   pairCheck(validateReplacedCABundle),
		"selectableField":    pairCheck(validateSelectableField),
	}
}

func pairCheck[A, B any](check func(a A, b B, path string, faults *schema.Faults)) schema.CheckFunc {
	return func(v any, path string, faults *schema.Faults) {
		pair := v.([]any)
		a, _ := pair[0].(A)
		b, _ := pair[1].(B)
		check(a, b, path, faults)
	}
}

// validateApproval requires the approval annotation in protected groups. It accepts updates of CRDs
// that already violate this rule.
func (c definitionChecks) validateApproval(obj, old tree.Tree, _ string, faults *schema.Faults) {
	approval, needed := c.approvals.Of(obj)
	if !needed || !approval.Refused() {
		return
	}
	if had, _ := c.approvals.Of(old); had.Reason == approval.Reason {
		return
	}
	path := tree.KeyPath("metadata.annotations", c.approvals.Annotation)
	if approval.Reason == crd.ApprovalMissing {
		faults.Required(path, approval.Message)
		return
	}
	faults.Invalid(path, obj.Annotations().String(c.approvals.Annotation), approval.Message)
}
