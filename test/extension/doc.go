// Package extension tests API extensions: custom resources and their conversion, admission
// webhooks, aggregated servers, and proxying.
//
// The reference implementation is the code of kube-apiserver in the public Go modules of
// Kubernetes. Each topic below has its own file name prefix.
//
// # Aggregation
//
// These tests cover aggregated API servers: registration, availability, forwarding of requests and
// users, discovery and OpenAPI. Most servers run in the test process. The one in
// test/tools/extension is built on k8s.io/apiserver.
//
// # CEL
//
// These tests compare CEL expressions and validation rules of custom resources with the reference
// implementation. Results, errors, costs and cost estimates must be equal.
//
// # Conversion
//
// These tests run a daemon with conversion webhooks over TLS. Most use the Route CRD. A route has a
// host and a port in version v1, and one string with both in version v2.
//
// # Custom
//
// These tests check custom resources over HTTP.
//
// # Definitions
//
// These tests create CRDs and example objects published by real projects. The server must accept
// all of them, with the same results as the reference implementation. The projects are Go modules
// at pinned versions.
//
// Validation errors of new and updated CRDs are compared with the reference implementation.
//
// Other tests check the cost of many or short-lived CRDs. The memory of a deleted CRD must be
// released, and discovery and OpenAPI must be correct after each change.
//
// # Proxying
//
// These tests use public clients for requests that the daemon forwards: to Services, Pods and Nodes
// through the proxy subresource, and to containers through a kubelet. The test kubelet is built on
// Kubernetes' streaming library, requires a client certificate, and runs commands on this machine.
//
// # Webhooks
//
// These tests check admission webhooks over TLS: request selection, review content, the effect of
// responses, and slow, failing and lying webhooks.
package extension
