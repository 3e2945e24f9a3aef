// Package review makes what webhooks are asked, and what expressions of policies read, of a request: a View of
// it in the form of one kind.
//
// A View shows the object and the old object in the version that a webhook or a policy is registered for, with
// their apiVersion and kind, and, for a sub-resource with a body of a kind of its own, that body: a Scale, a
// Binding, an Eviction. Request is the rest of an AdmissionReview's request. An Authorizer answers what expressions ask
// of the rights of the user.
//
// Invariant: nothing of the Attributes is changed by looking at them, and the trees of a View are shared with
// them: they must not be changed.
package review
