// Package policyobjects lets package policy read what the store holds, and makes writers wait until
// policy has seen what they wrote.
//
//	Reader        implements policy.Objects, serviceaccount.Objects and podsecurity.Objects: one
//	              object, or all of a resource and their changes, or the Pods of a namespace
//	BarrierStore  the store as clients reach it: the answer to a write of roles, of bindings or of
//	              definitions of kinds waits until that write is in effect
//
// Policy names resources in platform form, whatever the naming profile; the Reader translates. Custom
// kinds are resources like others: a Reader finds them from the moment on at which their definition
// is in effect, and Inform follows a resource through all definitions that it gets.
//
// Reads see the published state of the store. Inform calls from one goroutine for each call of
// Inform; what that has seen is counted in an ObservedRevision per resource, which is what a
// BarrierStore waits for.
package policyobjects
