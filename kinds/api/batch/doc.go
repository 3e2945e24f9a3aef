// Package batch holds the rules of Jobs and CronJobs.
//
// Unlike other workloads, Jobs finish. Most rules ensure that a Job finishes only once, for one
// reason, and irrevocably, because other components act on its completion.
package batch
