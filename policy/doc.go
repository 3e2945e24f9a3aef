// Package policy makes access decisions. Its packages, in request-handling order:
//
//	authn           authentication: certificates, tokens, proxies, anonymous
//	authn/serviceaccount, authn/oidc   service account and OpenID Connect tokens
//	impersonation   user impersonation
//	authz           authorization by a chain of modes
//	authz/rbac, authz/node             modes that watch objects: roles and kubelets
//	admission       plugins that change or reject writes; some in subpackages
//	audit           audit events of requests and their results
//
// Supporting packages:
//
//	certs        the server's own and trusted certificates, kept current
//	remote       HTTP clients of webhooks and other services
//	kubeconfig   kubeconfig file reader
//
// Within this module, policy imports only package kinds. The interface Objects, which package
// actors/controllers/policyobjects implements, provides the stored objects of the cluster.
package policy
