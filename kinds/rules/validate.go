package rules

import (
	"context"
	"math"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Validate returns all errors of t, or nil. Defaults must be applied first.
func Validate(k *schema.Kind, t tree.Tree) []meta.Cause {
	causes, _ := ValidateChange(context.Background(), k, t, nil) // the background context is never done
	return causes
}

// ValidateChange validates t as the replacement of old, which was valid. It does not check the
// top-level fields that t shares with old. The error is a timeout if ctx is done.
func ValidateChange(ctx context.Context, k *schema.Kind, t, old tree.Tree) ([]meta.Cause, error) {
	faults, own := newFaults(ctx, math.MaxInt), newFaults(ctx, math.MaxInt)
	validateMetadata(k, t.Object("metadata"), old.Object("metadata"), &faults)
	if m := k.Message(); m != nil && m.Values != nil && !k.IsCustom() { // ValidateServed validates custom kinds
		e := schema.NewEvaluation("", &faults)
		for i := range m.Values.Parts.Checked {
			if f := &m.Values.Parts.Checked[i]; f.Name != "metadata" && !t.Shares(old, f.Name) {
				checkPart(e, f, t, schema.Previous{})
			}
		}
	}
	ValidateRules(k, t, old, &own)
	if faults.Work.Err() != nil || own.Work.Err() != nil {
		return nil, errEnded()
	}
	if len(own.List) == 0 {
		return faults.List, nil
	}
	return mergeCauses(k.Message(), faults.List, own.List), nil
}

func newFaults(ctx context.Context, budget int) schema.Faults {
	return schema.Faults{Work: schema.NewWork(ctx, budget)}
}

func errEnded() error {
	return meta.NewTimeout("the request ended before its object had been validated")
}

// ValidateRules checks t with the rules and functions of its kind, but not with field options.
func ValidateRules(k *schema.Kind, t, old tree.Tree, faults *schema.Faults) {
	schema.Run(k.Declared.Message().Checks().Validate, t, old, "", faults)
	k.Strategy.Validate(t, old, faults)
}

// ValidateValue reports all errors of the object t according to its plan. old is nil for a new
// object.
func ValidateValue(p *schema.ValuePlan, t, old tree.Tree, faults *schema.Faults) {
	schema.NewEvaluation("", faults).Run(p, t, schema.Previous{Value: old, Exists: old != nil})
}

// ValidateUpdate returns the forbidden changes from old to t. It does not validate t itself.
func ValidateUpdate(k *schema.Kind, t, old tree.Tree) []meta.Cause {
	var faults schema.Faults
	validateMetadataUpdate(t.Object("metadata"), old.Object("metadata"), &faults)
	if m := k.Message(); m != nil && m.Values != nil && len(m.Values.Parts.Immutable) > 0 {
		checkImmutable(schema.NewEvaluation("", &faults), m.Values.Parts, t, old)
	}
	planned := len(faults.List)
	schema.Run(k.Declared.Message().Checks().Update, t, old, "", &faults)
	k.Strategy.ValidateUpdate(t, old, &faults)
	if len(faults.List) == planned {
		return faults.List
	}
	return mergeCauses(k.Message(), faults.List[:planned:planned], faults.List[planned:])
}

// ValidateMetadataUpdate is ValidateUpdate for metadata only, for writes through subresources.
func ValidateMetadataUpdate(t, old tree.Tree) []meta.Cause {
	var faults schema.Faults
	validateMetadataUpdate(t.Object("metadata"), old.Object("metadata"), &faults)
	return faults.List
}

// ValidateServed returns the errors that apply only to the served version k, in addition to those
// of the storage version. t and old are in the storage version, and old is nil on create. If
// validation exceeds schema.ValidationBudget, it stops and reports a cause. The error is a timeout
// if ctx is done.
func ValidateServed(ctx context.Context, k *schema.Kind, t, old tree.Tree) ([]meta.Cause, error) {
	faults := newFaults(ctx, schema.ValidationBudget)
	schema.Run(k.Declared.Message().Checks().Write, t, old, "", &faults)
	k.Strategy.ValidateServed(t, old, &faults)
	if faults.Work.Err() != nil {
		return nil, errEnded()
	}
	return faults.List, nil
}

// Warnings returns the warnings about a valid object t. old is nil on create.
func Warnings(k *schema.Kind, t, old tree.Tree) []string {
	var faults schema.Faults
	schema.Run(k.Declared.Message().Checks().Warnings, t, old, "", &faults)
	return append(faults.Warnings, k.Strategy.Warnings(t, old)...)
}

// StatusWarnings returns the warnings about a valid write of the status.
func StatusWarnings(k *schema.Kind, t, old tree.Tree) []string {
	var faults schema.Faults
	schema.Run(k.Declared.Message().Checks().StatusWarnings, t, old, "", &faults)
	return faults.Warnings
}

// Blocks reports whether a cause prevents the evaluation of expressions, which rely on the types of
// values and, for their cost estimates, on size limits.
func Blocks(c meta.Cause) bool {
	switch c.Type {
	case meta.CauseNotSupported, meta.CauseRequired, meta.CauseTooLong, meta.CauseTooMany, meta.CauseTypeInvalid:
		return true
	}
	return false
}

// NotEvaluated returns the cause that reports skipped expressions.
func NotEvaluated() meta.Cause {
	var faults schema.Faults
	faults.Invalid(schema.WholeObject, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")
	return faults.List[0]
}

// Evaluate runs the validation expressions of k for a write of t. The caller must have validated t
// and found no cause for which Blocks returns true. old is nil on create. If ctx is done, Evaluate
// stops and its result is invalid.
func Evaluate(ctx context.Context, k *schema.Kind, t, old tree.Tree) []meta.Cause {
	faults := newFaults(ctx, math.MaxInt)
	k.Strategy.Evaluate(ctx, t, old, &faults)
	return faults.List
}
