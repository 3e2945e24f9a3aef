// Package job runs Jobs to completion, and creates the Jobs of CronJobs on schedule.
//
// Every Pod of a Job has a finalizer until it is counted, so that no Pod is lost or counted twice,
// regardless of its deleter and of the end of this process. Counting takes three writes, after each
// of which the process may end:
//
//  1. the uid of a finished Pod is added to status.uncountedTerminatedPods
//  2. its finalizer is removed
//  3. the uid is removed and the counter incremented, in one write
//
// A listed uid whose Pod has no finalizer is still to be counted; one whose Pod has it is not
// counted again. Indexed Jobs count successful indexes, which are sets and need no uids.
//
// A Job ends when its last Pod has ended. Until then the conditions FailureTarget and
// SuccessCriteriaMet announce the result.
//
// turn     one reconciliation of a Job (job.go, pods.go, status.go)
// state    decisions on a Job and its Pods as read (state.go, desired.go, tracking.go)
// indexes  a set of completion indexes, in the notation of the status: "0,2-5"
// backoff  failures of a Job's Pods since the last success; in memory only
package job
