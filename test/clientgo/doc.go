// Package clientgo lets the public client library loose on the daemon, under the names that it
// knows: typed clients in JSON and Protobuf, the dynamic, metadata, scale and discovery
// clients, informers with and without the stream of initial events, retried watches, pagers,
// event recorders and leader election. Whatever they decode is held against what was written.
//
// One daemon in process serves all tests, each in namespaces of its own; TestKilledInformer
// runs the binary, kills it under its informers and writers again and again, and at the end
// holds their caches against a list.
//
// Nouns: Server, the daemon; Traffic, the requests that a client sent; and process, a run of
// the binary.
package clientgo
