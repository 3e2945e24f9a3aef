// Package batch holds the rules of Jobs and CronJobs.
package batch
