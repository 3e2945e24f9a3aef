// Package admissionpolicy enforces ValidatingAdmissionPolicies and MutatingAdmissionPolicies: expressions that requests
// must satisfy, or that change their objects.
//
// The nouns: a Source knows the policies of one sort with their bindings, compiled, and what they are about; Params are
// the objects that policies take their parameters from; an evaluation is one look at a request, whose values (the object
// in the form of a version, the namespace, the request, the authorizer) are made when an expression first asks for them;
// Metrics count what policies have found.
//
// # What happens to a request
//
// The policies whose rules concern its resource are found by one look-up in a map. For each that matches, and each of its
// bindings that matches, and each object of parameters that the binding selects, the expressions are evaluated, with a
// cost limit of their own. A policy without a binding does nothing. Policies and bindings are taken in the order of their
// names.
//
// All this runs in the turn of the object's owner and waits for nothing: policies, bindings, parameters and namespaces are
// kept in memory as they change. Only where the server asks a remote authorizer, policies whose expressions ask for
// authorization run on the goroutine of the request, as webhooks do, because the answer may take long.
//
// An expression of a message is evaluated only when a validation of its policy has failed.
//
// # Invariants
//
// A policy, a binding or an object of parameters counts from the moment on at which its write was answered. The kinds of
// this package's own configuration match no policy. Expressions see copies, or objects that nobody changes.
package admissionpolicy
