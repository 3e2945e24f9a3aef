// Package batch validates and defaults Jobs and CronJobs. Most rules ensure that a Job finishes
// only once and irrevocably, because other components act on its completion.
package batch
