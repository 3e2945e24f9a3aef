// Package admissionpolicy enforces ValidatingAdmissionPolicies and MutatingAdmissionPolicies.
//
// A Source holds the compiled policies of one type and their bindings. Params holds the objects
// that policies use as parameters. An evaluation belongs to one request and creates the values for
// expressions on first use. Metrics counts results.
//
// # Evaluation
//
// One map lookup finds the policies whose rules cover the resource. The expressions of a matching
// policy run once for each matching binding and each params object that it selects, with a separate
// cost budget. A policy without a binding has no effect. Policies and bindings apply in the order
// of their names. Message expressions run only after a validation has failed.
//
// Evaluation runs in the activation of the object and does not block, because policies, bindings,
// params and namespaces are cached in memory. If the server uses a remote authorizer, policies with
// authorization checks run on the request's goroutine, like webhooks.
//
// # Invariants
//
// A policy, binding or params object is in effect when its write returns. No policy matches the
// resources that configure admission. Expressions see copies or immutable objects.
package admissionpolicy
