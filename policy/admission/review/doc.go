// Package review converts a request to the API version that a webhook or policy matches.
//
// A View contains the object and old object with apiVersion and kind. For a subresource with its
// own body kind, such as Scale, Binding or Eviction, it contains that body. View.Request returns
// the other fields of an AdmissionReview request. An Authorizer makes authorization decisions for
// expressions.
//
// A View shares trees with its request's Attributes, and never modifies them.
package review
