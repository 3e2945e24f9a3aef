package admissionregistration

import (
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type admissionPolicyStrategy struct {
	schema.DefaultStrategy
	compiler *expressions.Compiler
}

func (s admissionPolicyStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	validateExpressions(s.compiler.Validating, obj.Object("spec"), old.Object("spec"), faults)
}

// Prepare keeps the status, which contains the results of type checking.
func (admissionPolicyStrategy) Prepare(obj, old tree.Tree) {
	if old == nil {
		obj["status"] = tree.Tree{}
		return
	}
	obj.CopyField(old, "status")
}
