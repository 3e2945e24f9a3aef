// Package policyobjects gives package policy access to stored objects, and tracks up to which
// version policy has seen them.
//
// A Reader implements policy.Objects, serviceaccount.Objects, podsecurity.Objects, quota.Objects
// and actors.Observers.
//
// Policy names resources in platform form, whatever the naming profile; the Reader translates.
// Custom resources are found as long as their CRD is in effect, and Inform follows a resource
// across changes of its CRD.
//
// Reads see the published state of the store. Each call of Inform uses one goroutine for its
// events. Its progress is an ObservedRevision per resource, for which an actors.ClientStore waits.
package policyobjects
