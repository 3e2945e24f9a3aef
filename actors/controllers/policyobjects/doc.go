// Package policyobjects gives package policy access to stored objects, and tracks up to which version
// policy has seen them.
//
//	Reader  implements policy.Objects, serviceaccount.Objects and podsecurity.Objects: one object, or
//	        all of a resource and their changes, or the Pods of a namespace; and actors.Observers
//
// Policy names resources in platform form, whatever the naming profile; the Reader translates. Custom
// kinds are resources like others: a Reader finds them from the moment on at which their definition
// is in effect, and Inform follows a resource through all definitions that it gets.
//
// Reads see the published state of the store. Inform calls from one goroutine for each call of
// Inform; what that has seen is counted in an ObservedRevision per resource, which is what an
// actors.ClientStore waits for.
package policyobjects
