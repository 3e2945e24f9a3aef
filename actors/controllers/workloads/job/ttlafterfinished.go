package job

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// TTLAfterFinished deletes finished Jobs when their spec.ttlSecondsAfterFinished has passed.
type TTLAfterFinished struct {
	*reconcile.Controller[meta.Key]
	jobs reconcile.Client
}

func NewTTLAfterFinished(env *reconcile.Env) *TTLAfterFinished {
	c := &TTLAfterFinished{jobs: env.Client("batch", "v1", "Job")}
	c.Controller = reconcile.New(env, "ttl_jobs_to_delete", c.delete, "cannot delete a finished Job", "job")
	c.Watch(c.jobs, reconcile.Updates(c.onJob))
	return c
}

func (c *TTLAfterFinished) onJob(o *meta.Object) {
	if o.Meta.Terminating {
		return
	}
	job, err := c.jobs.Decode(o)
	if err != nil {
		c.Log.Error("cannot decode a Job", "job", o.Key.String(), "error", err)
		return
	}
	if at, ok := expiryOf(job); ok {
		c.AddAt(o.Key, at)
	}
}

// delete deletes an expired Job. If the TTL has been extended, it schedules the Job again.
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

// expiryOf returns when a finished Job expires, counted from its transition to Complete or Failed.
// It returns false if the Job is not finished or has no TTL.
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
