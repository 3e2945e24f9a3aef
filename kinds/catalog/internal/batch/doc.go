// Package batch holds the rules of Jobs and CronJobs.
//
// Jobs differ from other workloads in that they end: most rules here see to it that the end is reached
// once, is reached for one reason, and is not taken back, since others act on it.
package batch
