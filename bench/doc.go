// Command bench is the load harness. It drives Kubernetes-compatible servers over TLS and HTTP/1.1
// with keep-alive, and measures what a request costs: rate, latency, CPU time per operation and
// resident memory of the server's processes.
//
//	options.go                   the flags
//	runner.go                    rounds, the servers that they compare, and the floor
//	report.go, origin.go         rows, table, JSON, medians, comparison of saved reports
//	target.go                    a server under load, requests and connections
//	servers.go, process.go       starts of daemons, etcd and kube-apiserver; usage of processes
//	floor.go                     a bare server that answers as many bytes
//	load.go, sample.go           loads and their outcome; timeseries.go is that of a soak
//	workloads.go                 the table of workloads, and what they share
//	fixture.go, pods.go, wire.go objects in JSON and Protobuf
//	all others                   workloads
//
// A workload is a function with an entry in the table and a line in bench/README.md. It prepares a
// namespace of its own, drives a Load, whose operations are Steps, and returns a Result for each
// row. A Step checks that the response is right: a wrong one that is quick must not look like a
// good one. Its time counts as latency, so bodies are formatted and searched, not encoded and
// decoded.
//
// Invariants:
//
//   - Every workload is bounded by operations and by time (the soak by a rate and by time), and
//     the whole run by --timeout.
//   - Only processes that the harness started are signaled.
//   - A failed operation is counted as an error, never in a rate or a latency.
//   - What is measured at another size than its own, or not at all, is noted in the report.
//   - Handshakes, preparation and clean-up are not measured, except that the cold start includes
//     the handshake of its first request.
package main
