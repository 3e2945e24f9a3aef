package admissionregistration

import (
	"github.com/troupe-api/troupe/kinds/api/internal/webhook"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds returns the group's kinds with their strategies. Admission must use the same compiler, so
// that every accepted policy also compiles there.
func Kinds(compiler *expressions.Compiler) []schema.Behavior {
	webhooks := webhookStrategy{compiler: compiler}
	return []schema.Behavior{
		{Name: "admissionregistration.platform.io/v1/MutatingAdmissionPolicy", Strategy: mutatingPolicyStrategy{compiler: compiler}},
		{Name: "admissionregistration.platform.io/v1/MutatingWebhookConfiguration", Strategy: webhooks},
		{Name: "admissionregistration.platform.io/v1/ValidatingAdmissionPolicy", Strategy: admissionPolicyStrategy{compiler: compiler}},
		{Name: "admissionregistration.platform.io/v1/ValidatingWebhookConfiguration", Strategy: webhooks},
	}
}

// RuleFunctions contains the functions that declarative rules call by name.
var RuleFunctions = map[string]schema.CheckFunc{
	"reviewVersions": webhook.CheckReviewVersions,
	"webhookClient":  schema.ObjectCheck(webhook.ValidateClientConfig),
}
