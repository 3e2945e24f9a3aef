// Package batch validates and defaults Jobs and CronJobs. Most rules ensure that a Job finishes
// only once and irrevocably, because other components act when it finishes.
package batch
