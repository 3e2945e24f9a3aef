// Package batch holds the rules of Jobs and CronJobs. Most rules ensure that a Job finishes only
// once and irrevocably, because other components act on its completion.
package batch
