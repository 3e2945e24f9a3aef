// Package job runs Jobs to completion, creates the Jobs of CronJobs on schedule, and deletes
// finished Jobs after their TTL.
//
// Every Pod of a Job has a finalizer until it is counted. As a result, no Pod is lost or counted
// twice, even if clients delete Pods or this process crashes. Counting takes three writes, and the
// process may crash after each of them:
//
//  1. The uid of a finished Pod is added to status.uncountedTerminatedPods.
//  2. The Pod's finalizer is removed.
//  3. The uid is removed and the counter is incremented, in one write.
//
// If a Pod's uid is in the status, the finalizer shows which write is missing: step 2 if the Pod
// still has it, otherwise step 3. Indexed Jobs record sets of successful indexes and need no uids.
//
// A Job finishes when its last Pod has terminated. Until then, the conditions FailureTarget and
// SuccessCriteriaMet announce the result.
//
//	turn     one reconciliation of a Job (job.go, pods.go, status.go)
//	state    decisions on a Job and its Pods as read (state.go, desired.go, tracking.go)
//	indexes  a set of completion indexes, in the notation of the status: "0,2-5"
//	backoff  failures of a Job's Pods since the last success; in memory only
package job
