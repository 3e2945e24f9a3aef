// Package job runs Jobs to their end, and makes Jobs of CronJobs when their time has come.
//
// Every Pod of a Job has a finalizer until it was counted, so that none is lost or counted twice, whoever deletes it
// and whenever this process ends. Counting takes three steps, of which each may be the last of a process:
//
//  1. the uid of a Pod that has ended is written into status.uncountedTerminatedPods
//  2. its finalizer is removed
//  3. the uid is taken out again and the number raised, in one write
//
// A uid in the status whose Pod has no finalizer any more has not been counted yet; one whose Pod still has it is not
// counted again. Indexed Jobs count indexes instead of Pods that succeed, so these are written at once.
//
// A Job has ended when its last Pod has: until then the conditions FailureTarget and SuccessCriteriaMet say how it will.
//
//	turn     what is done for one Job at a time: job.go is its course, pods.go makes and removes Pods, status.go writes
//	state    a Job and its Pods, as they were read: state.go counts and decides, desired.go says which Pods there should
//	         be, tracking.go takes the three steps
//	indexes  a set of completion indexes, as the status writes it: "0,2-5"
//	backoff  how often and when Pods of a Job have failed since one has last succeeded; in memory only
package job
