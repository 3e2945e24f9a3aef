// Package review builds the view of a request for webhooks and policy expressions, in the form of
// one kind.
//
// A View has the object and old object in the version that a webhook or policy matches, with
// apiVersion and kind. For a subresource with its own body kind, such as Scale, Binding or
// Eviction, it has that body. Request is the rest of an AdmissionReview request. An Authorizer
// makes authorization decisions for expressions.
//
// Invariant: a View does not change the Attributes and shares trees with them, which must not be
// changed.
package review
