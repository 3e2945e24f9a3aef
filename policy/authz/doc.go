// Package authz decides whether a user may make a request.
//
// Attributes describe the request, an Authorizer is one authorization mode, and a Decision is its
// result. A Reviewer reports decisions to clients. A RuleResolver is an Authorizer that can list
// what it allows. Authorizers are tried in order until one allows or denies; otherwise the request
// is denied.
//
// The modes here are Masters and AlwaysAllowPaths, which come first; ABAC, a policy file; Webhook,
// a remote; AlwaysAllow and AlwaysDeny. Package rbac decides by roles, package node by the needs of
// a node's Pods.
//
// # Invariants
//
//   - Attributes are made once per request, from the same parsed request that routes it.
//   - An unparseable selector never restricts them.
//   - A mode that fails allows nothing and leaves the decision to later modes.
//   - No lock is held during slow work, so waiting for a remote delays no other request.
//
// # ABAC policy files
//
// Each line is empty, begins with "#", or is one JSON object of version v1beta1, kind Policy:
//
//	{"apiVersion": "abac.authorization.platform.io/v1beta1", "kind": "Policy", "spec": {
//	   "user": U, "group": G, "readonly": B, "apiGroup": A, "resource": R, "namespace": N, "nonResourcePath": P}}
//
// It applies to the user U, if set, in the group G, if set; "*" for either means the group
// system:authenticated. It allows requests for resource R of group A in namespace N, where "*"
// matches all, and for path P, which may end in "*". With readonly, it allows only get, list and
// watch.
//
// # Webhook
//
// A POST of a SubjectAccessReview in the configured version; v1beta1 names the groups "group".
// Selectors become the requirements of fieldSelector and labelSelector, except for Gt and Lt, which
// reviews cannot express. The response is a SubjectAccessReview of the same version with
// status.allowed, status.denied and status.reason. It is cached by the SHA-256 of the request.
package authz
