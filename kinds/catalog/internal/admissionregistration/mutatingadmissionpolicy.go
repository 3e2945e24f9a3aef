package admissionregistration

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// mutatingPolicyStrategy has no Prepare: unlike a validating policy, this kind has no status.
type mutatingPolicyStrategy struct {
	schema.DefaultStrategy
	compiler *expressions.Compiler
}

func (s mutatingPolicyStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	validateExpressions(s.compiler.Mutating, obj.Object("spec"), old.Object("spec"), faults)
}

// mutatingBindingStrategy repeats the check of operations for the binding, which may narrow the
// match of its policy in the same form.
type mutatingBindingStrategy struct{ schema.DefaultStrategy }

func (mutatingBindingStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	validateBinding(spec, faults)
	validateMutatingOperations(spec, "matchResources", faults)
}

// Validate checks the structure of a policy; its expressions are compiled elsewhere.
func (mutatingPolicyStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	validatePolicy(spec, faults)
	validateMutatingOperations(spec, "matchConstraints", faults)
	mutations := spec.Objects("mutations")
	if len(mutations) == 0 {
		faults.Required("spec.mutations", "mutations must contain at least one item")
	}
	for i, m := range mutations {
		validateMutation(m, tree.IndexPath("spec.mutations", i), faults)
	}
}

// mutatingOperations are those that have a new object. A deletion and a connection have nothing that a
// patch could apply to. "*" stands for the two others.
var mutatingOperations = []string{"*", "CREATE", "UPDATE"}

// validateMutatingOperations reports at a path without an index, as clients know it.
func validateMutatingOperations(spec tree.Tree, name string, faults *schema.Faults) {
	for _, rule := range spec.Object(name).Objects("resourceRules") {
		for _, o := range rule.Strings("operations") {
			if !slices.Contains(mutatingOperations, o) {
				faults.NotSupported("spec."+name+".resourceRules.operations", o, mutatingOperations)
			}
		}
	}
}

// validateMutation checks that a mutation has the member of its type, and no other. The other member is
// shown by its name in braces rather than with its content.
func validateMutation(m tree.Tree, path string, faults *schema.Faults) {
	patchType := m.String("patchType")
	wanted := expressions.MutationField(patchType)
	if wanted == "" {
		return // which the declaration refuses
	}
	other := map[string]string{"jsonPatch": "applyConfiguration", "applyConfiguration": "jsonPatch"}[wanted]
	patch, ok := m[wanted].(tree.Tree)
	switch {
	case !ok:
		faults.Required(path+"."+wanted, "must be specified when patchType is "+patchType)
	case strings.TrimSpace(patch.String("expression")) == "":
		faults.Required(path + "." + wanted + ".expression")
	}
	if m.Has(other) {
		faults.Invalid(path+"."+other, "{"+other+"}", "must not be specified when patchType is "+patchType)
	}
}
