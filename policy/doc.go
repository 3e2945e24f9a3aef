// Package policy makes access decisions. Its packages, in the order in which they handle a request:
//
//	authn           authentication: certificates, tokens, proxies, anonymous
//	authn/serviceaccount, authn/oidc   tokens with a package of their own
//	impersonation   user impersonation
//	authz           authorization by a chain of modes
//	authz/rbac, authz/node             modes that watch objects: roles and kubelets
//	admission       plugins that change or reject writes; some in packages below it
//	audit           audit events of requests and their results
//
// Supporting packages:
//
//	certs        the certificates that the server uses and trusts, kept current
//	remote       HTTP clients of webhooks and other services
//	kubeconfig   the reader of kubeconfig files
//
// Within this module, policy imports only package kinds. Objects gives access to the cluster.
// Package actors/controllers/policyobjects implements it. An Object is in stored form. A Change is
// the creation, update or deletion of an Object. A Generation validates cached decisions.
package policy
