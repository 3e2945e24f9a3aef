package admissionregistration

import (
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type mutatingPolicyStrategy struct {
	schema.DefaultStrategy
	compiler *expressions.Compiler
}

func (s mutatingPolicyStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	validateExpressions(s.compiler.Mutating, obj.Object("spec"), old.Object("spec"), faults)
}
