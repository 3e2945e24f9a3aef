package authorization

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A review is a question and nothing is stored of it. Its rules see to it that the question has one meaning, for the
// answer would otherwise be about something else than was asked.
type accessReviewStrategy struct{ schema.DefaultStrategy }

func (accessReviewStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	validateAccessAttributes(spec, faults)
	validateSubject(spec, faults)
	validateEmptyMetadata(obj, faults)
}

// The subject is whoever asks, so there is none to check.
type selfAccessReviewStrategy struct{ schema.DefaultStrategy }

func (selfAccessReviewStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	validateAccessAttributes(obj.Object("spec"), faults)
	validateEmptyMetadata(obj, faults)
}

// The right to ask is given by namespace here. So the namespace of the question must be that of the path, and paths
// that are no resources, which lie in none, cannot be asked about.
type localAccessReviewStrategy struct{ schema.DefaultStrategy }

func (localAccessReviewStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
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
}

// validateEmptyMetadata requires empty metadata: reviews are not stored. A name or labels would suggest
// that the review can be found again.
func validateEmptyMetadata(obj tree.Tree, faults *schema.Faults) {
	if metadata := obj.Object("metadata"); !tree.SemanticEqual(metadata, tree.Tree{}) {
		faults.Invalid("metadata", metadata, "must be empty")
	}
}

// validateAccessAttributes requires exactly one of resourceAttributes and nonResourceAttributes.
//
// A selector inside the attributes narrows the question down to the list that it selects.
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

// A group alone is enough: one may ask what its members may do.
func validateSubject(spec tree.Tree, faults *schema.Faults) {
	if spec.String("user") == "" && len(spec.List("groups")) == 0 {
		faults.Invalid("spec.user", "", "at least one of user or group must be specified")
	}
}
