// Package webhook implements the plugins MutatingAdmissionWebhook and ValidatingAdmissionWebhook.
//
// A hook is one compiled webhook. Hooks are sorted by configuration name, then by position in the
// configuration. A question is an AdmissionReview request, and an answer is the response. A caller
// sends questions (package webhookclient).
//
// # Calls
//
// Mutating hooks run one after another. Each receives the object as modified by the previous ones.
// If a hook modified the object, the plugins of stage request.InTurn run again. A second round
// calls hooks with reinvocationPolicy IfNeeded if the object changed after their call. Validating
// hooks run in parallel on the object to be stored. The failurePolicy applies to failed calls. A
// denial always rejects the request.
//
// # Limits
//
// Responses are limited to 3 MiB. Package webhookclient enforces the other limits.
//
// # Invariants
//
//   - Hooks are immutable. A changed configuration creates new ones. A mutation in progress
//     keeps the hooks that it started with.
//   - Connections close once no configuration uses their address, CA and credential.
//   - Metrics have series only for existing hooks.
//   - Hooks are not called for webhook configurations (package match).
package webhook
