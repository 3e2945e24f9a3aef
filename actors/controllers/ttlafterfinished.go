package controllers

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// TTLAfterFinished deletes Jobs some time after they have finished, as their spec.ttlSecondsAfterFinished says.
type TTLAfterFinished struct {
	store  Store
	jobs   *schema.Kind
	logger *slog.Logger
	queue  *reconcile.Workqueue[meta.Key]
}

// NewTTLAfterFinished returns the controller for the kinds of a catalogue.
func NewTTLAfterFinished(store Store, kinds *catalog.Catalog, logger *slog.Logger) *TTLAfterFinished {
	k := kinds.ByGVK(meta.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"})
	return &TTLAfterFinished{store, k, logger, reconcile.NewWorkqueue[meta.Key]().Named("ttl_jobs_to_delete")}
}

// Run runs the controller until the context ends.
func (c *TTLAfterFinished) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		reconcile.RunInformer(ctx, c.store, c.jobs, reconcile.UpdateHandlerFunc(func(o *meta.Object) { c.onJob(ctx, o) }))
	})
	c.queue.Run(ctx, c.delete, func(key meta.Key, err error) {
		c.logger.Warn("a finished Job stays", "job", key.String(), "error", err)
	})
}

// onJob notes when a finished Job is to go.
func (c *TTLAfterFinished) onJob(ctx context.Context, o *meta.Object) {
	if o.Meta.Terminating {
		return
	}
	job, err := codec.DecodeStored(c.jobs.Message(), o.JSON)
	if err != nil {
		c.logger.Error("a Job cannot be read", "job", o.Key.String(), "error", err)
		return
	}
	// A time in the past is no delay, as after a restart.
	if at, ok := expiryOf(job); ok {
		c.queue.AddAfter(ctx, o.Key, time.Until(at))
	}
}

// delete deletes a Job whose time has come. It may have got another time since, and then waits for that.
func (c *TTLAfterFinished) delete(ctx context.Context, key meta.Key) error {
	o, job, err := reconcile.Read(ctx, c.store, c.jobs, key)
	if err != nil || o == nil || o.Meta.Terminating {
		return err
	}
	at, ok := expiryOf(job)
	if !ok {
		return nil
	}
	// Too early: the time to live was prolonged after the Job was enqueued.
	if left := time.Until(at); left > 0 {
		c.queue.AddAfter(ctx, key, left)
		return nil
	}
	return reconcile.DeleteIfUnchanged(ctx, c.store, c.jobs, o, "Foreground")
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
