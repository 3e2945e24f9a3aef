// Package authz decides whether a user may make a request.
//
// Attributes describes the request, an Authorizer is one authorization mode, and a Decision is its
// result. A Reviewer answers SubjectAccessReviews. A RuleResolver is an Authorizer that can also
// list a user's rules. Authorizers are tried in order until one allows or denies. If none does, the
// request is denied.
//
// # Invariants
//
//   - Attributes and the route come from the same parsed request.
//   - An unparseable selector never restricts Attributes.
//   - A mode that fails allows nothing. It leaves the decision to later modes, unless the
//     failurePolicy of a webhook is Deny.
//
// # ABAC policy files
//
// Each line is empty, starts with "#", or is one JSON object of version v1beta1, kind Policy:
//
//	{"apiVersion": "abac.authorization.platform.io/v1beta1", "kind": "Policy", "spec": {
//	   "user": U, "group": G, "readonly": B, "apiGroup": A, "resource": R, "namespace": N, "nonResourcePath": P}}
//
// A policy applies to user U in group G. Both are optional, and "*" for either means the group
// system:authenticated. The policy allows requests for resource R of group A in namespace N, where
// "*" matches any value. It also allows requests for path P, which may end in "*". A readonly
// policy allows only get, list and watch.
//
// # Webhook
//
// The request is a POST of a SubjectAccessReview in the configured version. In v1beta1, the groups
// field is named "group". Selectors become requirements in fieldSelector and labelSelector, except
// Gt and Lt, which a review cannot express. The response is a SubjectAccessReview of the same
// version with status.allowed, status.denied and status.reason. It is cached by the SHA-256 sum of
// the request.
package authz
