// Package policy makes access decisions. The packages, in the order of a request:
//
//	authn           authentication: certificates, tokens, proxies, anonymous
//	authn/serviceaccount, authn/oidc   tokens with a package of their own
//	impersonation   user impersonation
//	authz           authorization by a chain of modes
//	authz/rbac, authz/node             modes that follow objects: roles, and nodes' agents
//	admission       plugins that change or refuse writes; some in packages below it
//	audit           audit events of requests and their results
//
// and beside them
//
//	certs        the certificates that the daemon serves with and trusts, kept current
//	remote       HTTP clients of webhooks and other services
//	kubeconfig   the reader of kubeconfig files
//
// Policy imports only package kinds of this module. It reads the cluster through Objects, declared
// here and implemented by actors/controllers/policyobjects. An Object is in stored form, a Change
// is its creation, update or deletion. A Generation validates cached decisions.
package policy
