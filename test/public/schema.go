package public

import (
	"context"
	"encoding/json"
	"math"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
)

// A Schema is a CRD schema as processed by the libraries of kube-apiserver.
type Schema struct {
	Structural *schema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator // nil without rules
}

// NewSchema decodes a schema from JSON.
func NewSchema(text []byte) (*Schema, error) {
	var external v1.JSONSchemaProps
	var internal apiextensions.JSONSchemaProps
	if err := json.Unmarshal(text, &external); err != nil {
		return nil, err
	}
	if err := v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&external, &internal, nil); err != nil {
		return nil, err
	}
	structural, err := schema.NewStructural(&internal)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		return nil, err
	}
	return &Schema{structural, validator, cel.NewValidator(structural, true, math.MaxInt64)}, nil
}

// Shape prunes an object and applies defaults in place.
func (s *Schema) Shape(o map[string]any) {
	pruning.Prune(o, s.Structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(o, s.Structural)
	defaulting.Default(o, s.Structural)
}

// Validate returns the validation errors of an object. ruled reports whether its CEL rules were
// evaluated, which requires that there are no other errors.
func (s *Schema) Validate(ctx context.Context, o map[string]any) (errs field.ErrorList, ruled bool) {
	errs = append(validation.ValidateCustomResource(nil, o, s.validator), listtype.ValidateListSetsAndMaps(nil, s.Structural, o)...)
	if len(errs) > 0 {
		return errs, false
	}
	errs, _ = s.rules.Validate(ctx, nil, s.Structural, o, nil, math.MaxInt64)
	return errs, true
}

// ValidateUpdate returns the validation errors of an update, except from CEL rules or for duplicate
// list items.
func (s *Schema) ValidateUpdate(o, old map[string]any) field.ErrorList {
	correlated := common.NewCorrelatedObject(o, old, &model.Structural{Structural: s.Structural})
	return validation.ValidateCustomResourceUpdate(nil, o, old, s.validator, validation.WithRatcheting(correlated))
}

// Decode decodes an object as kube-apiserver does. Numbers without a fraction become integers.
func Decode(text []byte) (o map[string]any, err error) {
	err = utiljson.Unmarshal(text, &o)
	return o, err
}
