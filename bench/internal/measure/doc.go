// Package measure drives a server and says what came of it.
//
// A Load is how hard to drive (workers, operations, time); Drive runs a Step for each operation and
// returns a Sample: operations, errors, latencies, CPU time and memory. A Figure is a single value
// with its unit, a Curve how one cost grows with the size of something, a TimeSeries how a server
// was doing while it was under load, of which a Trend says whether it grows.
//
// Handshakes are outside of what is measured. An operation that failed is counted as an error, never
// in a rate or a latency.
package measure
