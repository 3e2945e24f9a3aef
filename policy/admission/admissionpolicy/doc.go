// Package admissionpolicy enforces ValidatingAdmissionPolicies and MutatingAdmissionPolicies.
//
// A Source holds the compiled policies of one type with their bindings. Params hold the objects
// that policies take parameters from. An evaluation belongs to one request; it creates the values
// that expressions see on first use. Metrics count results.
//
// # Evaluation
//
// One map lookup finds the policies whose rules cover the resource. Expressions run for each
// matching policy, each matching binding, and each params object it selects, with a cost budget of
// their own. A policy without a binding does nothing. Policies and bindings apply in the order of
// their names. Message expressions run only after a validation has failed.
//
// Evaluation runs in the activation of the object and does not block: policies, bindings, params
// and namespaces are cached in memory. If the server uses a remote authorizer, policies whose
// expressions check authorization run on the goroutine of the request, like webhooks.
//
// # Invariants
//
// A policy, binding or params object is in effect when its write returns. The configuration kinds
// of this package match no policy. Expressions see copies or immutable objects.
package admissionpolicy
