// Package policy decides who may do what. The packages, in the order in which a request meets them:
//
//	authn           who is asking: certificates, tokens, proxies, anonymous
//	authn/serviceaccount, authn/oidc   the tokens that take a package of their own
//	impersonation   who may act as whom
//	authz           whether that user may do what is asked, by one mode after the other
//	authz/rbac, authz/node             the modes that follow objects: roles, and agents of nodes
//	admission       plugins that complete or refuse a change; beneath it those with packages of their own
//	audit           who has asked for what, and how it ended
//
// and beside them
//
//	certs        the certificates that the daemon serves with and trusts, kept current
//	remote       HTTP clients of webhooks and other services
//	kubeconfig   the reader of client configuration files
//
// Policy imports package kinds and nothing else of ours. What it reads of the cluster comes
// through Objects, which is declared here and implemented by actors/controllers/policyobjects: an
// Object is one in stored form, a Change what has become of it. A Generation tells whether decisions
// that were kept are still up to date.
package policy
