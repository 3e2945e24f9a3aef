// Command bench is the load harness. It drives any server of the conventions of the
// specification over TLS and HTTP/1.1 with keep-alive, and measures what a request costs:
// rate, latency, CPU time per operation and resident memory of the server's processes.
//
// The command itself says what runs, in which order, and which files are written. Beneath it are
//
//	internal/server    targets: servers by kubeconfig, daemons that are started, the floor, connections
//	internal/measure   loads and samples: rate, latency, CPU time, memory
//	internal/scenario  the workloads, one file each; growth
//	internal/report    rows, tables, JSON, comparison, plots of growth
//	internal/benchtest the server that tests run against
//
// Invariants:
//
//   - Every workload is bounded by operations and by time (the soak by a rate and by time), and
//     the whole run by --timeout.
//   - Only processes that the harness started itself are ever signalled.
//   - An operation that failed is counted as an error, never in a rate or a latency.
//   - What is measured at another size than its own, or not at all, is noted in the report.
//   - Handshakes, preparation and clean-up are outside of what is measured, except that the
//     cold start includes the handshake of its first request.
package main
