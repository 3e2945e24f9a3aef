// Package webhook asks admission webhooks: the plugins MutatingAdmissionWebhook and ValidatingAdmissionWebhook.
//
// The nouns: a hook is one webhook of a configuration, compiled; hooks are all of one sort, in the order of the
// names of their configurations and then as they are listed; a question is an AdmissionReview about one
// change, an answer what the hook says; a caller reaches a hook (package webhookclient).
//
// # A change
//
// Mutating hooks are asked one after the other, each with what the ones before have made of the object. If any has
// changed it, the plugins in the owner's turn run again, and a second round asks those that want to be asked again
// (reinvocationPolicy IfNeeded) and after whom the object was changed. Validating hooks are asked at the same time,
// with the state that would be stored. What cannot be asked lets a change pass or not by its failurePolicy;
// what a hook refuses is refused.
//
// # Limits
//
// A question ends with the hook's timeout or with the request; an answer has at most 3 MiB. The rest is package
// webhookclient's.
//
// # Invariants
//
//   - Hooks never change: a changed configuration makes new ones. A change of the cluster sees one set of hooks from its
//     beginning to its end.
//   - The connections to a hook are closed when no configuration names its address, authority and credential any more.
//   - Series of metrics are those of hooks that exist.
//   - Nobody is asked about the configurations themselves (package match).
package webhook
