// Package policy is the room of who may do what. It holds no code itself:
//
//	authn   who is asking: client certificates, tokens, anonymous
//	authz   whether that user may do what is asked: by roles, nodes, policies, a remote
//	impersonation  who may act as whom
//	certs   the daemon's own certificates, made on first start and renewed
//
// Policy imports package kinds and nothing else of ours; where it needs objects it
// declares a small interface for them.
package policy
