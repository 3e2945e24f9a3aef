package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func accessReviewRules() schema.Rules {
	return schema.Rules{Validate: func(obj schema.Tree, faults *schema.Faults) {
		spec := rules.Nested(obj, "spec")
		validateAccessAttributes(spec, faults)
		validateSubject(spec, faults)
		validateEmptyMetadata(obj, faults)
	}}
}

func selfAccessReviewRules() schema.Rules {
	return schema.Rules{Validate: func(obj schema.Tree, faults *schema.Faults) {
		validateAccessAttributes(rules.Nested(obj, "spec"), faults)
		validateEmptyMetadata(obj, faults)
	}}
}

func localAccessReviewRules() schema.Rules {
	return schema.Rules{Validate: func(obj schema.Tree, faults *schema.Faults) {
		spec, metadata := rules.Nested(obj, "spec"), rules.Nested(obj, "metadata")
		validateAccessAttributes(spec, faults)
		validateSubject(spec, faults)
		if len(metadata) > 0 && !(len(metadata) == 1 && rules.Has(metadata, "namespace")) {
			faults.Invalid("metadata", metadata, "must be empty except for namespace")
		}
		if r, ok := spec["resourceAttributes"].(schema.Tree); ok && rules.String(r, "namespace") != rules.String(metadata, "namespace") {
			faults.Invalid("spec.resourceAttributes.namespace", rules.String(r, "namespace"), "must match metadata.namespace")
		}
		if rules.Has(spec, "nonResourceAttributes") {
			faults.Invalid("spec.nonResourceAttributes", spec["nonResourceAttributes"], "disallowed on this kind of request")
		}
	}}
}

// validateEmptyMetadata wants a review to be nothing but a question.
func validateEmptyMetadata(obj schema.Tree, faults *schema.Faults) {
	if metadata := rules.Nested(obj, "metadata"); !rules.SemanticEqual(metadata, schema.Tree{}) {
		faults.Invalid("metadata", metadata, "must be empty")
	}
}

// validateAccessAttributes wants one question: about a resource or about a path.
func validateAccessAttributes(spec schema.Tree, faults *schema.Faults) {
	resource, ofResource := spec["resourceAttributes"].(schema.Tree)
	path, ofPath := spec["nonResourceAttributes"].(schema.Tree)
	switch {
	case ofResource && ofPath:
		faults.Invalid("spec.nonResourceAttributes", path, "cannot be specified in combination with resourceAttributes")
	case !ofResource && !ofPath:
		faults.Invalid("spec.resourceAttributes", nil, "exactly one of nonResourceAttributes or resourceAttributes must be specified")
	}
	for _, name := range []string{"fieldSelector", "labelSelector"} {
		if s, ok := resource[name].(schema.Tree); ok {
			validateSelectorAttributes(s, "spec.resourceAttributes."+name, faults)
		}
	}
}

// validateSelectorAttributes wants a selector as text or as requirements. Operators that are
// not known are left to the authorizer, which does not rely on them.
func validateSelectorAttributes(s schema.Tree, path string, faults *schema.Faults) {
	raw, requirements := rules.String(s, "rawSelector"), rules.Trees(s, "requirements")
	switch {
	case raw != "" && len(requirements) > 0:
		faults.Invalid(path+".rawSelector", raw, "may not specified at the same time as requirements")
	case raw == "" && len(requirements) == 0:
		faults.Required(path+".requirements", "when "+path+" is specified, requirements or rawSelector is required")
	}
	for i, r := range requirements {
		at, values := rules.IndexPath(path+".requirements", i), rules.Items(r, "values")
		requireFields(r, at, faults, "key")
		switch rules.String(r, "operator") {
		case "In", "NotIn":
			if len(values) == 0 {
				faults.Required(at+".values", "must be specified when `operator` is 'In' or 'NotIn'")
			}
		case "Exists", "DoesNotExist":
			if len(values) > 0 {
				faults.Forbidden(at+".values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
			}
		}
	}
}

func validateSubject(spec schema.Tree, faults *schema.Faults) {
	if rules.String(spec, "user") == "" && len(rules.Items(spec, "groups")) == 0 {
		faults.Invalid("spec.user", "", "at least one of user or group must be specified")
	}
}
