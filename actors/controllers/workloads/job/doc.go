// Package job runs Jobs to completion, and creates the Jobs of CronJobs on schedule.
//
// Every Pod of a Job has a finalizer until it is counted. No Pod is therefore lost or counted
// twice, even if clients delete Pods or this process ends. Counting takes three writes, and the
// process may end after each of them:
//
//  1. The uid of a finished Pod is added to status.uncountedTerminatedPods.
//  2. The Pod's finalizer is removed.
//  3. The uid is removed and the counter is incremented, in one write.
//
// A listed Pod without the finalizer must still be counted. A Pod with the finalizer may be listed
// again without effect. Indexed Jobs record sets of successful indexes and need no uids.
//
// A Job ends when its last Pod has ended. Until then, the conditions FailureTarget and
// SuccessCriteriaMet announce the result.
//
//	turn     one reconciliation of a Job (job.go, pods.go, status.go)
//	state    decisions on a Job and its Pods as read (state.go, desired.go, tracking.go)
//	indexes  a set of completion indexes, in the notation of the status: "0,2-5"
//	backoff  failures of a Job's Pods since the last success; in memory only
package job
