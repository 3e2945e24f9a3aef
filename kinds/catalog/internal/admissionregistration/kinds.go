package admissionregistration

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/expressions"
)

// Kinds lists the kinds of admissionregistration with their functions. The compiler is for the expressions
// of policies. It is shared with admission, so that what compiles here also compiles there.
func Kinds(compiler *expressions.Compiler) []family.Kind {
	return []family.Kind{
		{Name: "admissionregistration.platform.io/v1beta1/MutatingAdmissionPolicy", Rules: mutatingPolicyRules(compiler)},
		{Name: "admissionregistration.platform.io/v1beta1/MutatingAdmissionPolicyBinding", Rules: mutatingBindingRules()},
		{Name: "admissionregistration.platform.io/v1/MutatingWebhookConfiguration", Rules: webhookRules(compiler)},
		{Name: "admissionregistration.platform.io/v1/ValidatingAdmissionPolicy", Rules: admissionPolicyRules(compiler), Views: family.Views{"status": family.CheckedStatus(validatePolicyStatus)}},
		{Name: "admissionregistration.platform.io/v1/ValidatingAdmissionPolicyBinding", Rules: admissionBindingRules()},
		{Name: "admissionregistration.platform.io/v1/ValidatingWebhookConfiguration", Rules: webhookRules(compiler)},
	}
}
