// Command bench is the load harness. It drives any server of the conventions of the
// specification over TLS and HTTP/1.1 with keep-alive, and measures what a request costs:
// rate, latency, CPU time per operation and resident memory of the server's processes.
//
// Its nouns:
//
//   - Target: a server, from a kubeconfig, with the processes whose cost counts.
//   - Conn: one keep-alive connection to a target; every worker has its own.
//   - Load: how hard to drive (workers, operations, time), and Sample: what came of it.
//   - Workload: one scenario, one file each; it prepares its own namespace and removes it.
//   - Row: one line of the report, beside the aim that it is measured against.
//   - Identity: a CA and a token of the harness, for requests of plain users.
//   - Course: how a server was doing while it was under load, from the soak.
//   - Setting: what one setting of the daemon changes, tried with several values.
//   - Curve: how one cost grows with the size of something, drawn as a plot.
//   - Floor: a bare fasthttp server in a child process that answers as many bytes and does
//     nothing else; no server on this stack can be cheaper.
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
//
// The JSON report (--json) is one object: "origin" (when, where, of which commit and by which
// command), "options" (the flags in force), "rows" (a list of Row, whose field names carry their
// units), "growth" (a list of Curve) and "course" (a Course), if that was measured, and "notes"
// (a list of strings).
package main
