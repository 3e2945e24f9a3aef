// Package admissionpolicy enforces ValidatingAdmissionPolicies and MutatingAdmissionPolicies.
//
// A Source holds the compiled policies of one type and their bindings. An evaluation belongs to one
// request and creates the CEL variables on first use.
//
// # Evaluation
//
// One map lookup finds the policies whose rules cover the resource. A matching policy's expressions
// run once for each matching binding and each selected params object, with a separate cost budget.
// A policy without a binding has no effect. Policies and bindings apply in name order. Message
// expressions run only after a failed validation.
//
// Evaluation runs in the object's activation and does not block, because policies, bindings, params
// and namespaces are cached in memory. If the server uses a remote authorizer, policies with
// authorization checks run on the request's goroutine, like webhooks.
//
// # Invariants
//
// A policy, binding or params object is in effect when its write returns. No policy matches the
// resources that configure admission. Expressions see copies or immutable objects.
package admissionpolicy
