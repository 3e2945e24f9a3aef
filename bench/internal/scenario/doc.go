// Package scenario holds what the bench does to a server: the workloads, one file each, and the curves
// of growth.
//
// A Workload is one scenario. It gets a Session: the Options that the flags set, the target, and a
// place for notes. It prepares a namespace of its own through a fixture, drives loads, removes the
// namespace, and returns Results, each a row of the report. Workloads lists all of them in the
// order in which they run.
//
// MeasureGrowth measures costs at growing sizes.
//
// What is measured at another size than the scenario's own, or not at all, is noted.
//
// Objects are ConfigMaps where the kind does not matter, since they have next to no rules of their own:
// what is measured is then the server and not one kind. Each carries the time at which it was sent, from
// which the latency of its event follows.
//
// A workload that fails returns an error and no rows; single operations that fail are counted in its rows.
// Every one cleans up after itself, also when it was cut short, so that it can be run on a server that
// others use.
//
// # Adding a workload
//
// A workload is one function in a file of its own, with an entry in Workloads and a line in
// bench/README.md:
//
//	prepare   s.prepare makes a namespace with objects; a deferred remove takes both away again
//	drive     a measure.Load calls a Step, which is one operation, from as many clients as the flags say
//	return    one Result for each row; comparisons match it by its name
//
// What a Step does before and after its requests is counted as latency, so bodies are put together by hand
// and answers are searched, not decoded. A Step checks that the answer is right: a wrong one that is quick
// must not look like a good one.
//
// Where a figure other than CPU time per operation is what matters, as a pause or a share, the Result has
// it as its Figure. Where a bare server could do the same exchange, the Result has a Floor, with which the
// cost of TLS, HTTP and the sockets alone is measured.
package scenario
