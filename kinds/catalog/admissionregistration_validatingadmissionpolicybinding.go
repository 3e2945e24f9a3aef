package catalog

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func admissionBindingRules() schema.Rules {
	return schema.Rules{Validate: validateAdmissionBinding}
}

// validateAdmissionBinding checks where, how and with what a policy is put to work.
func validateAdmissionBinding(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Nested(obj, "spec")
	requireFields(spec, "spec", faults, "policyName")
	validateFormat(spec, "policyName", "spec", faults, rules.Subdomain)
	if ref, ok := spec["paramRef"].(schema.Tree); ok {
		validateParamRef(ref, "spec.paramRef", faults)
	}
	if match, ok := spec["matchResources"].(schema.Tree); ok {
		validateMatchResources(match, "spec.matchResources", faults)
	}
	const path = "spec.validationActions"
	actions := rules.Strings(spec, "validationActions")
	if len(actions) == 0 {
		faults.Required(path)
	}
	for i, action := range actions {
		if choices := []string{"Audit", "Deny", "Warn"}; !slices.Contains(choices, action) {
			faults.NotSupported(rules.IndexPath(path, i), action, choices)
		}
	}
	if slices.Contains(actions, "Deny") && slices.Contains(actions, "Warn") {
		faults.Invalid(path, actions, "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)")
	}
}

// validateParamRef wants parameters by name or by labels, and what to do without them.
func validateParamRef(ref schema.Tree, path string, faults *schema.Faults) {
	validateFormat(ref, "name", path, faults, rules.PathSegment)
	selector, selects := ref["selector"].(schema.Tree)
	validateLabelSelector(selector, path+".selector", faults)
	switch named := rules.String(ref, "name") != ""; {
	case named && selects:
		faults.Forbidden(path+".name", "name and selector are mutually exclusive")
		faults.Forbidden(path+".selector", "name and selector are mutually exclusive")
	case !named && !selects:
		faults.Required(path, "one of name or selector must be specified")
	}
	validateEnum(ref, "parameterNotFoundAction", path, faults, "Deny", "Allow")
}
