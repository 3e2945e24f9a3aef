// Command bench generates load on Kubernetes-compatible servers over TLS and HTTP/1.1 with
// keep-alive. It measures rate, latency, CPU time per operation and resident memory of the server's
// processes.
//
//	options.go                   the flags
//	runner.go                    rounds, the compared servers, and the floor
//	report.go, origin.go         rows, table, JSON, medians, comparison of saved reports
//	target.go                    a server under load, requests and connections
//	servers.go, process.go       start daemons, etcd and kube-apiserver; measure processes
//	floor.go                     a bare server with responses of the same size
//	load.go, sample.go           loads and their results; timeseries.go for a soak
//	workloads.go                 the table of workloads, and shared functions
//	fixture.go, pods.go, wire.go objects in JSON and Protobuf
//	other files                  workloads
//
// A workload is a function with an entry in the table and a line in bench/README.md. It drives a
// Load and returns a Result per row. The operations of a Load are Steps. A Step checks its
// response. It formats and searches bodies instead of encoding and decoding them, because its time
// is part of the latency.
//
// Invariants:
//
//   - Every workload is bounded by operations and time (the soak by rate and time), and the entire
//     run by --timeout.
//   - Only processes that the harness started are signaled.
//   - A failed operation is counted as an error, never in a rate or a latency.
//   - The report notes workloads that were omitted or run at another size.
//   - Handshakes, preparation and clean-up are not measured, except that the cold start includes
//     its first handshake.
package main
