package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A CronController creates the Jobs of CronJobs on schedule and deletes old Jobs. It reads the
// progress of Jobs from the status that the Job controller writes. It requeues each CronJob for its
// next scheduled time.
type CronController struct {
	*reconcile.Controller[meta.Key]
	*cluster.Cluster
	crons, jobs *reconcile.Cache[*reconcile.Item]
	recorder    *reconcile.Recorder
	scheduledAt string // annotation of Jobs with their scheduled time
}

func NewCron(c *cluster.Cluster) *CronController {
	j := &CronController{
		Cluster: c, crons: c.Items("batch", "v1", "CronJob"), jobs: c.Items("batch", "v1", "Job"), recorder: c.Recorder("cronjob-controller"),
		scheduledAt: c.Naming.Translate("batch.platform.io/cronjob-scheduled-timestamp"),
	}
	j.Controller = c.Workloads("cronjob", j.crons, j.reconcile, j.jobs)
	reconcile.FollowDependents(j.Controller, j.jobs, j.crons)
	return j
}

// A run is one reconciliation of a CronJob by one worker. It collects status changes and writes
// them once at the end.
type run struct {
	*CronController
	reconcile.Reporter
	item   *reconcile.Item
	tree   tree.Tree // as stored
	spec   tree.Tree
	active []tree.Tree // references to running Jobs
	last   string      // lastScheduleTime, and lastSuccessfulTime
	won    string
	now    time.Time
}

type child struct {
	*reconcile.Item
	status tree.Tree
	ended  string // condition with which it ended; "" while it runs
}

func (j *CronController) reconcile(ctx context.Context, item *reconcile.Item, t tree.Tree) error {
	status := t.Object("status")
	r := &run{CronController: j, Reporter: j.recorder.About(item), item: item, tree: t, spec: t.Object("spec"), active: status.Objects("active"), now: j.Now()}
	r.last, r.won = status.String("lastScheduleTime"), status.String("lastSuccessfulTime")
	children, err := r.children()
	if err != nil {
		return err
	}
	// Update the list of active Jobs before start, because concurrencyPolicy Forbid depends on it.
	r.cleanUp(ctx, children)
	r.observe(children)
	if err := r.forget(ctx, children); err != nil {
		return err
	}
	var fault error
	if !item.Terminating {
		fault = r.start(ctx)
	}
	return errors.Join(fault, r.write(ctx))
}

// children returns the Jobs that the CronJob controls, sorted by name. A CronJob has no selector
// and adopts no Jobs.
func (r *run) children() (all []child, err error) {
	for _, i := range r.jobs.OwnedBy(r.item.UID) {
		t, err := i.Tree()
		if err != nil {
			return nil, err
		}
		all = append(all, child{i, t.Object("status"), finished(t.Object("status")).String("type")})
	}
	slices.SortFunc(all, func(a, b child) int { return strings.Compare(a.Key.Name, b.Key.Name) })
	return all, nil
}

// runs reports whether the Job with the given uid is listed as active. Names may be reused.
func (r *run) runs(uid string) bool {
	return slices.ContainsFunc(r.active, func(a tree.Tree) bool { return a.String("uid") == uid })
}

func (r *run) drop(uid string) {
	r.active = slices.DeleteFunc(r.active, func(a tree.Tree) bool { return a.String("uid") == uid })
}

// cleanUp deletes the oldest finished Jobs beyond the history limits. Successful and failed Jobs
// have separate limits, so that many successes do not displace the latest failure. Without a limit,
// it keeps all Jobs.
func (r *run) cleanUp(ctx context.Context, children []child) {
	for field, kind := range map[string]string{"successfulJobsHistoryLimit": complete, "failedJobsHistoryLimit": failed} {
		limit, ok := r.spec.Int(field)
		if !ok {
			continue
		}
		var ended []child
		for _, c := range children {
			if c.ended == kind && !c.Terminating {
				ended = append(ended, c)
			}
		}
		slices.SortStableFunc(ended, func(a, b child) int { return byStart(a.status, b.status) })
		for _, c := range ended[:max(0, len(ended)-int(limit))] {
			_ = r.remove(ctx, c.Item) // reported in an Event, and retried in the next run
		}
	}
}

func byStart(a, b tree.Tree) int {
	x, y := reconcile.Time(a, "startTime"), reconcile.Time(b, "startTime")
	if x.IsZero() != y.IsZero() {
		if x.IsZero() {
			return 1
		}
		return -1
	}
	return x.Compare(y)
}

func (r *run) remove(ctx context.Context, i *reconcile.Item) error {
	if err := r.jobs.Remove(ctx, &i.Head, "Background"); err != nil {
		r.Warn("FailedDelete", "Deleted job: %v", err)
		return err
	}
	r.drop(i.UID)
	r.Normal("SuccessfulDelete", "Deleted job %s", i.Key.Name)
	return nil
}

// observe updates the active list and the last success from the statuses of Jobs. It reports an
// unlisted running Job but does not add it, because Jobs created by users must not block new Jobs
// under concurrencyPolicy Forbid.
func (r *run) observe(children []child) {
	for _, c := range children {
		listed := r.runs(c.UID)
		if c.ended == "" {
			if !listed {
				r.Warn("UnexpectedJob", "Saw a job that the controller did not create or forgot: %s", c.Key.Name)
			}
			continue
		}
		if listed {
			r.drop(c.UID)
			r.Normal("SawCompletedJob", "Saw completed job: %s, condition: %s", c.Key.Name, c.ended)
		}
		if at := c.status.String("completionTime"); c.ended == complete && at > r.won { // strings in one format
			r.won = at
		}
	}
}

// forget removes Jobs that no longer exist from the active list. It reads the store, because a
// stale cache could let concurrencyPolicy Forbid start a second Job.
func (r *run) forget(ctx context.Context, children []child) error {
	for _, a := range slices.Clone(r.active) {
		uid, name := a.String("uid"), a.String("name")
		if slices.ContainsFunc(children, func(c child) bool { return c.UID == uid }) {
			continue
		}
		o, err := r.jobs.Client.Get(ctx, r.jobKey(name))
		if err != nil {
			return err
		}
		if o == nil {
			r.Normal("MissingJob", "Active job went missing: %s", name)
			r.drop(uid)
		}
	}
	return nil
}

func (r *run) jobKey(name string) meta.Key {
	return r.jobs.Key(r.item.Key.Namespace, name)
}

// start creates the Job that is due and schedules the next run. If the schedule is invalid, it
// records an Event and returns nil, because a retry would not help. A change to the CronJob
// enqueues it again.
func (r *run) start(ctx context.Context) error {
	s, err := readSchedule(r.tree)
	switch {
	case errors.Is(err, errUnknownZone):
		r.Warn("UnknownTimeZone", "invalid timeZone: %q: %v", r.spec.String("timeZone"), errors.Unwrap(err))
		return nil
	case r.spec.Bool("suspend"):
		return nil
	case err != nil:
		r.Warn("UnparseableSchedule", "unparseable schedule: %q : %v", r.spec.String("schedule"), err)
		return nil
	}
	_, at, passed, err := s.due(r.now, true)
	if err != nil {
		r.Warn("InvalidSchedule", "invalid schedule: %s : %v", r.spec.String("schedule"), err)
		return nil
	}
	if passed > tooMany && !at.IsZero() {
		r.Warn("TooManyMissedTimes", "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")
	}
	if !at.IsZero() && r.mayStart(s, at) {
		if err := r.replace(ctx); err != nil {
			return err
		}
		if err := r.create(ctx, at); err != nil {
			return err
		}
		// Make s.next start at the time just scheduled, so that it does not visit the missed times
		// again.
		s.last = reconcile.Time(tree.Tree{"at": r.last}, "at")
	}
	if next := s.next(r.now); next.After(s.created) {
		r.AddAt(r.item.Key, next)
	}
	return nil
}

// mayStart reports whether the Job for a scheduled time should be created now. A Job that is listed
// as active counts as created, even if lastScheduleTime is older.
func (r *run) mayStart(s schedule, at time.Time) bool {
	name := jobName(r.item.Key.Name, at)
	switch {
	case s.limited && at.Add(s.deadline).Before(r.now):
		r.Warn("MissSchedule", "Missed scheduled time to start a job: %s", at.UTC().Format(time.RFC1123Z))
		return false
	case s.last.Equal(at) || slices.ContainsFunc(r.active, func(a tree.Tree) bool { return a.String("name") == name }):
		return false
	case r.spec.String("concurrencyPolicy") == "Forbid" && len(r.active) > 0:
		r.Normal("JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid")
		return false
	}
	return true
}

// replace deletes running Jobs if concurrencyPolicy is Replace. If a delete fails, it returns an
// error, so that no second Job is created.
func (r *run) replace(ctx context.Context) error {
	if r.spec.String("concurrencyPolicy") != "Replace" {
		return nil
	}
	for _, a := range slices.Clone(r.active) {
		i := r.jobs.Get(r.jobKey(a.String("name")))
		if i == nil || i.UID != a.String("uid") {
			r.drop(a.String("uid"))
			continue
		}
		if err := r.remove(ctx, i); err != nil {
			return fmt.Errorf("could not replace job %s/%s: %w", i.Key.Namespace, i.Key.Name, err)
		}
	}
	return nil
}

// jobName returns the unique name of the Job for a scheduled time. The name contains the minute,
// which is the resolution of schedules. As in Kubernetes 1.37, all @every times within a minute
// share a Job.
func jobName(cron string, at time.Time) string { return fmt.Sprintf("%s-%d", cron, at.Unix()/60) }

// create creates the Job for a scheduled time and adds it to the active list. The name is unique
// per time, so a retry does not create a second Job. If the Job already exists and the CronJob
// controls it, create adds it.
func (r *run) create(ctx context.Context, at time.Time) error {
	o, err := r.jobs.Create(ctx, r.job(at))
	switch {
	case reconcile.IsAlreadyExists(err):
		// An interrupted run may have created the Job.
		if o, err = r.jobs.Client.Get(ctx, r.jobKey(jobName(r.item.Key.Name, at))); err != nil || o == nil {
			return err
		}
		if !slices.ContainsFunc(o.Meta.OwnerReferences, func(ref meta.OwnerReference) bool { return ref.Controller && ref.UID == r.item.UID }) {
			return nil
		}
	case reconcile.IsNamespaceTerminating(err):
		return err
	case err != nil:
		r.Warn("FailedCreate", "Error creating job: %v", err)
		return err
	default:
		r.Normal("SuccessfulCreate", "Created job %s", o.Key.Name)
	}
	r.last = reconcile.Stamp(at)
	if !r.runs(o.Meta.UID) && !r.hasEnded(o) {
		r.active = append(r.active, tree.Tree{
			"apiVersion": r.jobs.APIVersion(), "kind": r.jobs.Kind.Kind, "namespace": o.Key.Namespace, "name": o.Key.Name, "uid": o.Meta.UID,
			"resourceVersion": fmt.Sprint(o.Version),
		})
	}
	return nil
}

func (r *run) hasEnded(o *meta.Object) bool {
	t, err := r.jobs.Decode(o)
	return err == nil && finished(t.Object("status")) != nil
}

// job returns the Job for one scheduled time. An annotation records this time in the CronJob's time
// zone. The name does not depend on the time zone.
func (r *run) job(at time.Time) tree.Tree {
	template := r.spec.Object("jobTemplate")
	metadata := tree.Tree{"namespace": r.item.Key.Namespace, "name": jobName(r.item.Key.Name, at), "ownerReferences": []any{r.item.ControllerReference()}}
	if labels := template.Labels(); len(labels) > 0 {
		metadata["labels"] = tree.Clone(labels)
	}
	annotations := template.Annotations().Copy()
	zone, err := time.LoadLocation(r.spec.String("timeZone"))
	if err != nil {
		zone = time.UTC
	}
	annotations[r.scheduledAt] = at.In(zone).Format(time.RFC3339)
	metadata["annotations"] = annotations
	return tree.Tree{"metadata": metadata, "spec": tree.Clone(template.Object("spec"))}
}

// write updates the status if it has changed. It omits empty fields, as the stored status does.
// After a conflict, the run is repeated with the newer object.
func (r *run) write(ctx context.Context) error {
	status := tree.Tree{}
	if len(r.active) > 0 {
		status["active"] = tree.ListOf(r.active)
	}
	if r.last != "" {
		status["lastScheduleTime"] = r.last
	}
	if r.won != "" {
		status["lastSuccessfulTime"] = r.won
	}
	return r.crons.UpdateStatus(ctx, r.tree, status)
}
