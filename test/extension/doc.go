// Package extension tests the extensions of the API: custom resources and their conversion,
// admission webhooks, aggregated servers, and proxying.
//
// The files of a topic begin with its name. The topics:
//
// # Aggregation
//
// These tests cover aggregated API servers: registration, availability, requests on behalf of
// users, discovery and OpenAPI. The servers are part of the tests, or built on the public library
// (test/tools/extension).
//
// # CEL
//
// These tests compare CEL expressions and the rules of custom resources with the public
// implementation: results, errors, costs and estimates must be equal.
//
// # Conversion
//
// These tests run a daemon with conversion webhooks over TLS. Most use the CRD of routes, which has
// a host and a port in version v1 and both in one string in version v2.
//
// # Custom
//
// These tests check custom resources over HTTP.
//
// # Definitions
//
// These tests create the CRDs of real projects and the objects that these publish as examples. All
// must be accepted, with the same results as in the public libraries. The projects are Go modules
// in pinned versions.
//
// Validation errors of new and changed CRDs are compared with those of the public libraries.
//
// Other tests check the cost of many or short-lived CRDs. The memory of a deleted CRD must be
// released, and discovery and OpenAPI must be right after each change.
//
// # Proxying
//
// These tests check requests that the daemon forwards with the public clients: to Services, Pods
// and Nodes with the verb proxy, and to containers through a kubelet. The kubelet is part of the
// tests. It is built on the public library for container runtimes, requires a client certificate,
// and runs commands on this machine.
//
// # Webhooks
//
// These tests check admission webhooks over TLS: which requests they get, the content of the
// reviews, the effect of their responses, and slow, failing and lying webhooks.
package extension
