// Package batch holds the rules of Jobs and CronJobs.
//
// Unlike other workloads, Jobs end. Most rules ensure that a Job ends only once, for one reason,
// and irrevocably, because other components act on the end.
package batch
