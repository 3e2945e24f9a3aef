package controllers

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// TTLAfterFinished deletes Jobs some time after they have finished, as their spec.ttlSecondsAfterFinished says.
type TTLAfterFinished struct {
	*reconcile.Controller[meta.Key]
	jobs reconcile.Client
}

// NewTTLAfterFinished returns the controller.
func NewTTLAfterFinished(env *Env) *TTLAfterFinished {
	c := &TTLAfterFinished{jobs: env.Client("batch", "v1", "Job")}
	c.Controller = reconcile.New(env, "ttl_jobs_to_delete", c.delete, "a finished Job stays", "job")
	c.Watch(c.jobs, reconcile.Updates(c.onJob))
	return c
}

// onJob notes when a finished Job is to go.
func (c *TTLAfterFinished) onJob(o *meta.Object) {
	if o.Meta.Terminating {
		return
	}
	job, err := c.jobs.Decode(o)
	if err != nil {
		c.Log.Error("a Job cannot be read", "job", o.Key.String(), "error", err)
		return
	}
	if at, ok := expiryOf(job); ok {
		c.AddAt(o.Key, at)
	}
}

// delete deletes a Job whose time has come. It may have got another time since, and then waits for that.
func (c *TTLAfterFinished) delete(ctx context.Context, key meta.Key) error {
	o, job, err := c.jobs.Read(ctx, key)
	if err != nil || o == nil || o.Meta.Terminating {
		return err
	}
	at, ok := expiryOf(job)
	if !ok {
		return nil
	}
	if time.Until(at) > 0 {
		c.AddAt(key, at)
		return nil
	}
	return c.jobs.DeleteWith(ctx, o, "Foreground")
}

// expiryOf is when a finished Job is to go; ok is false for one that stays.
// The time counts from when the Job became Complete or Failed, not from when the controller has seen it.
func expiryOf(job tree.Tree) (at time.Time, ok bool) {
	seconds, limited := job.Object("spec").Int("ttlSecondsAfterFinished")
	if !limited {
		return at, false
	}
	for _, condition := range job.Object("status").Objects("conditions") {
		kind := condition.String("type")
		if condition.String("status") != "True" || kind != "Complete" && kind != "Failed" {
			continue
		}
		finished, err := time.Parse(time.RFC3339, condition.String("lastTransitionTime"))
		return finished.Add(time.Duration(seconds) * time.Second), err == nil
	}
	return at, false
}
