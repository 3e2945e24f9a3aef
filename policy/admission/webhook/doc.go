// Package webhook implements the plugins MutatingAdmissionWebhook and ValidatingAdmissionWebhook.
//
// A hook is one compiled webhook. The hooks of a type are sorted by the name of their
// configuration, then by position. A question is an AdmissionReview request, an answer the response
// of a hook. A caller sends questions (package webhookclient).
//
// # Calls
//
// Mutating hooks run one after another, each with the object changed by the previous ones. If any
// changed it, the in-turn plugins run again. A second round calls hooks with reinvocationPolicy
// IfNeeded if the object changed after their call. Validating hooks run in parallel with the object
// to be stored. The failurePolicy decides on failed calls; refusals always count.
//
// # Limits
//
// A call ends with the hook's timeout or with the request. A response has at most 3 MiB. Package
// webhookclient has the other limits.
//
// # Invariants
//
//   - Hooks are immutable: a changed configuration creates new ones. A change of an object uses one
//     set of hooks throughout.
//   - Connections close when no configuration uses their address, CA and credential any more.
//   - Metrics have series only for existing hooks.
//   - Hooks are not called for the configurations themselves (package match).
package webhook
