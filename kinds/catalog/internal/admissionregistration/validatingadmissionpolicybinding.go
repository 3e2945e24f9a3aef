package admissionregistration

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// admissionBindingStrategy does not ask whether the policy exists: objects of one manifest come in
// any order, and a binding without its policy does nothing.
type admissionBindingStrategy struct{ schema.DefaultStrategy }

// Validate checks the policy, the parameters, the matched resources and the actions.
func (admissionBindingStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	validateBinding(spec, faults)
	const path = "spec.validationActions"
	actions := spec.Strings("validationActions")
	for i, action := range actions {
		if choices := []string{"Audit", "Deny", "Warn"}; !slices.Contains(choices, action) {
			faults.NotSupported(tree.IndexPath(path, i), action, choices)
		}
	}
	if slices.Contains(actions, "Deny") && slices.Contains(actions, "Warn") {
		faults.Invalid(path, actions, "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)")
	}
}

// validateBinding checks what the bindings of validating and mutating policies have in common. A nil
// matchResources matches all that the policy does.
func validateBinding(spec tree.Tree, faults *schema.Faults) {
	if ref, ok := spec["paramRef"].(tree.Tree); ok {
		validateParamRef(ref, "spec.paramRef", faults)
	}
	if match, ok := spec["matchResources"].(tree.Tree); ok {
		validateMatchResources(match, "spec.matchResources", faults)
	}
}

// validateParamRef requires a name or a selector of the parameters. With both, which parameters are meant
// would be undefined; with neither, the policy would run with none although it declares a kind.
func validateParamRef(ref tree.Tree, path string, faults *schema.Faults) {
	selector, selects := ref["selector"].(tree.Tree)
	field.LabelSelector(selector, path+".selector", faults)
	switch named := ref.String("name") != ""; {
	case named && selects:
		faults.Forbidden(path+".name", "name and selector are mutually exclusive")
		faults.Forbidden(path+".selector", "name and selector are mutually exclusive")
	case !named && !selects:
		faults.Required(path, "one of name or selector must be specified")
	}
}
