// Package authz decides whether a user may do what is asked.
//
// Attributes say who asks for what, an Authorizer is one mode of authorization, a Decision is
// its answer. A Reviewer tells clients what would be decided; a RuleResolver, which some
// Authorizers are, lists what it allows. Authorizers are asked in order; the first
// that allows or denies has decided, and what nobody allows is refused.
//
// The modes here: Masters and Paths, which come first; ABAC, a file of policies; Webhook, a
// remote; AlwaysAllow and AlwaysDeny. Package rbac decides by roles, package node by what the
// Pods of a node need.
//
// Invariants: Attributes are made once per request, from the same parsed request that
// routes it; a selector that cannot be understood never narrows them. A mode that cannot find
// out allows nothing, and leaves the decision to the modes after it. Nothing slow is done
// under a lock: who waits for a remote holds up nobody else.
//
// # The file of ABAC
//
// Each line is empty, begins with "#", or is one JSON object of version v1beta1, kind Policy:
//
//	{"apiVersion": "abac.authorization.platform.io/v1beta1", "kind": "Policy", "spec": {
//	   "user": U, "group": G, "readonly": B, "apiGroup": A, "resource": R, "namespace": N, "nonResourcePath": P}}
//
// It is about the user U, if there is one, in the group G, if there is one; "*" for either is
// the group system:authenticated. It allows what is asked of resource R of group A in namespace
// N, each of which may be "*", and of path P, of which a "*" at the end stands for any rest;
// with readonly, the verbs get, list and watch alone.
//
// # The question of a Webhook
//
// A POST of a SubjectAccessReview, the version being what the operator chose; v1beta1 calls the
// groups "group". Conditions of selectors are the requirements of fieldSelector and
// labelSelector, except for Gt and Lt, which reviews have no words for. The answer is a
// SubjectAccessReview of the same version with status.allowed, status.denied and status.reason.
// It counts for its time, under the SHA-256 of the question.
package authz
