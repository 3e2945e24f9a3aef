// Package extension tests what extends the API: custom kinds and their conversion, webhooks,
// aggregated servers, and proxying.
//
// The files of a topic begin with its name. The topics:
//
// # Aggregation
//
// These tests test the servers that extend the API: how they are registered, found out to be
// available, asked on behalf of users, and told of in the discovery; with servers of the test's
// own, and with one that is built on the public library (cmd/extension).
//
// # CEL
//
// These tests hold expressions in CEL, and the rules of custom kinds, against the public
// implementation: results, faults, costs and estimates are the same.
//
// # Conversion
//
// These tests test conversion webhooks of custom kinds: real webhooks in the process, over TLS,
// asked by a real daemon over HTTP. The definition of most tests is that of routes, whose version
// v1 has a host and a port, and whose version v2 has both in one text.
//
// # Custom
//
// These tests test kinds that are defined while the server runs, from outside.
//
// # Definitions
//
// These tests bring the definitions of real projects to the server, and the objects that they
// publish as examples: all are accepted, and what becomes of the objects is what becomes of them by
// the public libraries. The projects are fetched as Go modules, in pinned versions.
//
// What is refused of definitions, new ones and changes, is held against the public validation.
//
// It also tests what many definitions, and those that come and go, cost and leave behind: that a
// deleted one is released with all that was made of it, and that discovery and OpenAPI are right
// after each change.
//
// # Proxying
//
// These tests ask the real daemon to pass requests on: to Services, Pods and Nodes by the verb
// proxy, and to containers by way of a kubelet, with the public clients. The kubelet is one of ours
// that speaks the API of kubelets by the public library of container runtimes, wants a client
// certificate, and runs commands on this machine.
//
// # Webhooks
//
// These tests test admission webhooks over HTTP, with real servers of webhooks over TLS in this
// process: which requests they are asked about, what they are told, what becomes of what they
// answer, and what happens if they are slow, dead or lie.
package extension
