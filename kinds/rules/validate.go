package rules

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Validate reports every fault of t, which must have its defaults. No fault: nil.
func Validate(k *schema.Kind, t tree.Tree) []meta.Cause { return ValidateChange(k, t, nil) }

// ValidateChange is Validate of an object that is to replace old, which was valid. Top-level fields that t shares with
// old in memory are not validated again.
func ValidateChange(k *schema.Kind, t, old tree.Tree) []meta.Cause {
	var faults schema.Faults
	validateMetadata(k, t.Object("metadata"), &faults)
	if k.Message() != nil && !k.IsCustom() { // else ValidateServed does it
		validateFields(k.Message().Values, t, old, &faults)
	}
	var own schema.Faults
	ValidateRules(k, t, old, &own)
	return mergeCauses(k.Message(), faults.List, own.List)
}

// ValidateRules checks t by the rules and the functions of its kind, without the options of its fields.
func ValidateRules(k *schema.Kind, t, old tree.Tree, faults *schema.Faults) {
	schema.Run(k.Declared.Checks().Validate, t, old, "", faults)
	k.Strategy.Validate(t, old, faults)
}

// validateFields checks the fields of a whole object by its plan, which may be nil.
func validateFields(p *schema.ValuePlan, t, old tree.Tree, faults *schema.Faults) {
	if p == nil {
		return
	}
	e := schema.NewEvaluation("", faults)
	for i := range p.Parts.Checked {
		if f := &p.Parts.Checked[i]; f.Name != "metadata" && !t.Shares(old, f.Name) {
			checkPart(e, f, t, schema.Previous{})
		}
	}
}

// ValidateValue reports every fault that the plan of a whole object finds in t; old is nil for a new object.
func ValidateValue(p *schema.ValuePlan, t, old tree.Tree, faults *schema.Faults) {
	schema.NewEvaluation("", faults).Run(p, t, schema.Previous{Value: old, Exists: old != nil})
}

// ValidateUpdate reports what may not change from old to t. It does not repeat
// Validate: an update needs both.
func ValidateUpdate(k *schema.Kind, t, old tree.Tree) []meta.Cause {
	var faults schema.Faults
	validateMetadataUpdate(t.Object("metadata"), old.Object("metadata"), &faults)
	if k.Message() != nil && k.Message().Values != nil {
		checkImmutable(schema.NewEvaluation("", &faults), k.Message().Values.Parts, t, old)
	}
	planned := len(faults.List)
	schema.Run(k.Declared.Checks().Update, t, old, "", &faults)
	k.Strategy.ValidateUpdate(t, old, &faults)
	if len(faults.List) == planned {
		return faults.List
	}
	return mergeCauses(k.Message(), faults.List[:planned:planned], faults.List[planned:])
}

// ValidateMetadataUpdate is ValidateUpdate of the metadata alone, for writes through sub-resources.
func ValidateMetadataUpdate(t, old tree.Tree) []meta.Cause {
	var faults schema.Faults
	validateMetadataUpdate(t.Object("metadata"), old.Object("metadata"), &faults)
	return faults.List
}

// ValidateServed reports what the version k asks of a write of t through it, beyond Validate and ValidateUpdate of
// the storage version. t and old are objects of the storage version; old is nil on create.
func ValidateServed(k *schema.Kind, t, old tree.Tree) []meta.Cause {
	var faults schema.Faults
	schema.Run(k.Declared.Checks().Write, t, old, "", &faults)
	k.Strategy.ValidateServed(t, old, &faults)
	return faults.List
}

// Warnings returns the warnings about a valid t, by the rules and the functions of the kind. old is nil on create.
func Warnings(k *schema.Kind, t, old tree.Tree) []string {
	var faults schema.Faults
	schema.Run(k.Declared.Checks().Warnings, t, old, "", &faults)
	return append(faults.Warnings, k.Strategy.Warnings(t, old)...)
}

// Blocks tells the causes with which expressions are not evaluated: they rely on the types of values, and their costs
// are estimated by the limits of sizes.
func Blocks(c meta.Cause) bool {
	switch c.Type {
	case meta.CauseNotSupported, meta.CauseRequired, meta.CauseTooLong, meta.CauseTooMany, meta.CauseTypeInvalid:
		return true
	}
	return false
}

// NotEvaluated is the cause that tells of expressions which were not evaluated.
func NotEvaluated() meta.Cause {
	var faults schema.Faults
	faults.Invalid(schema.WholeObject, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")
	return faults.List[0]
}

// Evaluate runs the expressions of kind k for a write of t that has no fault which blocks them (Blocks). old is nil on
// create. When the context ends it stops, and its result is meaningless.
func Evaluate(ctx context.Context, k *schema.Kind, t, old tree.Tree) []meta.Cause {
	var faults schema.Faults
	k.Strategy.Evaluate(ctx, t, old, &faults)
	return faults.List
}
