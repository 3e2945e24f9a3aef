package admissionregistration

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/expressions"
)

// Kinds lists the kinds of admissionregistration with their strategies. The compiler is for the
// expressions of policies. It is shared with admission, so that what compiles here also compiles
// there.
func Kinds(compiler *expressions.Compiler) []family.Kind {
	webhooks := webhookStrategy{compiler: compiler}
	return []family.Kind{
		{Name: "admissionregistration.platform.io/v1beta1/MutatingAdmissionPolicy", Strategy: mutatingPolicyStrategy{compiler: compiler}},
		{Name: "admissionregistration.platform.io/v1beta1/MutatingAdmissionPolicyBinding", Strategy: mutatingBindingStrategy{}},
		{Name: "admissionregistration.platform.io/v1/MutatingWebhookConfiguration", Strategy: webhooks},
		{Name: "admissionregistration.platform.io/v1/ValidatingAdmissionPolicy", Strategy: admissionPolicyStrategy{compiler: compiler}, Views: family.Views{"status": family.CheckedStatus(validatePolicyStatus)}},
		{Name: "admissionregistration.platform.io/v1/ValidatingAdmissionPolicyBinding", Strategy: admissionBindingStrategy{}},
		{Name: "admissionregistration.platform.io/v1/ValidatingWebhookConfiguration", Strategy: webhooks},
	}
}
