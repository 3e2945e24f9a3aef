package admissionregistration

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
)

// Kinds lists the kinds of admissionregistration with their functions.
func Kinds() []family.Kind {
	return []family.Kind{
		{Name: "admissionregistration.platform.io/v1/MutatingWebhookConfiguration", Rules: family.Unenforced(webhookRules(), "no webhook is called")},
		{Name: "admissionregistration.platform.io/v1/ValidatingAdmissionPolicy", Rules: family.Unenforced(admissionPolicyRules(), "no request is checked")},
		{Name: "admissionregistration.platform.io/v1/ValidatingAdmissionPolicyBinding", Rules: family.Unenforced(admissionBindingRules(), "no request is checked")},
		{Name: "admissionregistration.platform.io/v1/ValidatingWebhookConfiguration", Rules: family.Unenforced(webhookRules(), "no webhook is called")},
	}
}
