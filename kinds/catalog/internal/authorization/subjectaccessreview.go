package authorization

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func accessReviewRules() schema.Rules {
	return schema.Rules{Validate: func(obj tree.Tree, faults *schema.Faults) {
		spec := obj.Object("spec")
		validateAccessAttributes(spec, faults)
		validateSubject(spec, faults)
		validateEmptyMetadata(obj, faults)
	}}
}

func selfAccessReviewRules() schema.Rules {
	return schema.Rules{Validate: func(obj tree.Tree, faults *schema.Faults) {
		validateAccessAttributes(obj.Object("spec"), faults)
		validateEmptyMetadata(obj, faults)
	}}
}

func localAccessReviewRules() schema.Rules {
	return schema.Rules{Validate: func(obj tree.Tree, faults *schema.Faults) {
		spec, metadata := obj.Object("spec"), obj.Object("metadata")
		validateAccessAttributes(spec, faults)
		validateSubject(spec, faults)
		if len(metadata) > 0 && !(len(metadata) == 1 && metadata.Has("namespace")) {
			faults.Invalid("metadata", metadata, "must be empty except for namespace")
		}
		if r, ok := spec["resourceAttributes"].(tree.Tree); ok && r.String("namespace") != metadata.String("namespace") {
			faults.Invalid("spec.resourceAttributes.namespace", r.String("namespace"), "must match metadata.namespace")
		}
		if spec.Has("nonResourceAttributes") {
			faults.Invalid("spec.nonResourceAttributes", spec["nonResourceAttributes"], "disallowed on this kind of request")
		}
	}}
}

// validateEmptyMetadata requires empty metadata: reviews are not stored.
func validateEmptyMetadata(obj tree.Tree, faults *schema.Faults) {
	if metadata := obj.Object("metadata"); !tree.SemanticEqual(metadata, tree.Tree{}) {
		faults.Invalid("metadata", metadata, "must be empty")
	}
}

// validateAccessAttributes requires exactly one of resourceAttributes and nonResourceAttributes.
func validateAccessAttributes(spec tree.Tree, faults *schema.Faults) {
	resource, ofResource := spec["resourceAttributes"].(tree.Tree)
	path, ofPath := spec["nonResourceAttributes"].(tree.Tree)
	switch {
	case ofResource && ofPath:
		faults.Invalid("spec.nonResourceAttributes", path, "cannot be specified in combination with resourceAttributes")
	case !ofResource && !ofPath:
		faults.Invalid("spec.resourceAttributes", nil, "exactly one of nonResourceAttributes or resourceAttributes must be specified")
	}
	for _, name := range []string{"fieldSelector", "labelSelector"} {
		if s, ok := resource[name].(tree.Tree); ok {
			validateSelectorAttributes(s, "spec.resourceAttributes."+name, faults)
		}
	}
}

// validateSelectorAttributes requires a selector as text or as requirements. Unknown operators are
// accepted: the authorizer ignores such requirements.
func validateSelectorAttributes(s tree.Tree, path string, faults *schema.Faults) {
	raw, requirements := s.String("rawSelector"), s.Objects("requirements")
	switch {
	case raw != "" && len(requirements) > 0:
		faults.Invalid(path+".rawSelector", raw, "may not specified at the same time as requirements")
	case raw == "" && len(requirements) == 0:
		faults.Required(path+".requirements", "when "+path+" is specified, requirements or rawSelector is required")
	}
	for i, r := range requirements {
		at, values := tree.IndexPath(path+".requirements", i), r.List("values")
		field.Require(r, at, faults, "key")
		switch r.String("operator") {
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

func validateSubject(spec tree.Tree, faults *schema.Faults) {
	if spec.String("user") == "" && len(spec.List("groups")) == 0 {
		faults.Invalid("spec.user", "", "at least one of user or group must be specified")
	}
}
