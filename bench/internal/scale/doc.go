// Package scale computes what larger sizes than a bench measures would cost: more objects, more writes, more daemons, more etcds.
//
// Parameters are few, have units and a source each: what the workload scale has measured at the small end (package scenario), or an
// Assumption, which is called one. From them follow
//
//   - by arithmetic, where nothing waits for anything: memory, bytes, starts, the cost of watches (sizes.go);
//   - by simulation, where what waits decides: how long a write takes, how many share a commit, what is busy first (simulation.go).
//
// The simulation is one of discrete events, on a clock of its own. A machine is a number of processors, for which work waits
// in the order of its arrival. A worker does one thing after the other on a machine, as a goroutine that owns something. A daemon
// gathers the writes that wait into one commit, as its committer does, and has one commit under way on each store; an
// etcd puts all commits that wait into one sync, applies them one after the other, and tells them to each daemon that follows.
//
// Invariants:
//
//   - The same parameters, setup and seed give the same outcome. Nothing here knows the time of day.
//   - Each run prints what it predicts for the sizes that were measured beside what was measured (Checks). A row that its
//     parameters were taken from is not among these. A deviation beyond its bound is an error.
//   - All times are microseconds and all rates are per second, unless a name says otherwise.
//
// What is not modelled: reads, failures, elections, the collector of garbage beyond its share of CPU time, and disks that get slower as
// they fill. Writes are updates of objects of the measured size, each of another object.
package scale
