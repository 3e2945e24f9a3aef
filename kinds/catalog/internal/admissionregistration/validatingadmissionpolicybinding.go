package admissionregistration

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func admissionBindingRules() schema.Rules {
	return schema.Rules{Validate: validateAdmissionBinding}
}

// validateAdmissionBinding checks the policy, the parameters, the matched resources and the actions.
func validateAdmissionBinding(obj tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	field.Require(spec, "spec", faults, "policyName")
	field.Format(spec, "policyName", "spec", faults, rules.Subdomain)
	if ref, ok := spec["paramRef"].(tree.Tree); ok {
		validateParamRef(ref, "spec.paramRef", faults)
	}
	if match, ok := spec["matchResources"].(tree.Tree); ok {
		validateMatchResources(match, "spec.matchResources", faults)
	}
	const path = "spec.validationActions"
	actions := spec.Strings("validationActions")
	if len(actions) == 0 {
		faults.Required(path)
	}
	for i, action := range actions {
		if choices := []string{"Audit", "Deny", "Warn"}; !slices.Contains(choices, action) {
			faults.NotSupported(tree.IndexPath(path, i), action, choices)
		}
	}
	if slices.Contains(actions, "Deny") && slices.Contains(actions, "Warn") {
		faults.Invalid(path, actions, "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)")
	}
}

// validateParamRef requires a name or a selector of the parameters, and an action if there are none.
func validateParamRef(ref tree.Tree, path string, faults *schema.Faults) {
	field.Format(ref, "name", path, faults, rules.PathSegment)
	selector, selects := ref["selector"].(tree.Tree)
	field.LabelSelector(selector, path+".selector", faults)
	switch named := ref.String("name") != ""; {
	case named && selects:
		faults.Forbidden(path+".name", "name and selector are mutually exclusive")
		faults.Forbidden(path+".selector", "name and selector are mutually exclusive")
	case !named && !selects:
		faults.Required(path, "one of name or selector must be specified")
	}
	field.Enum(ref, "parameterNotFoundAction", path, faults, "Deny", "Allow")
}
