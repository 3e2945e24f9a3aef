// Package scenario holds what the bench does to a server: the workloads, one file each, the curves
// of growth, and the trials of the daemon's settings.
//
// A Workload is one scenario. It gets a Session: the Options that the flags set, the target, and a
// place for notes. It prepares a namespace of its own through a fixture, drives loads, removes the
// namespace, and returns Results, each a row of the report. Workloads lists all of them in the
// order in which they run.
//
// MeasureGrowth measures costs at growing sizes. Settings are the settings of the daemon that answer
// something an operator can see, each with the values that it is tried with.
//
// What is measured at another size than the scenario's own, or not at all, is noted.
package scenario
