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

// A CronController makes Jobs of CronJobs when their time has come, and deletes old ones.
// It needs no Pods: how a Job goes is read from the status that the controller of Jobs writes. Times that come without
// any change of an object are reached by adding the key of the CronJob for later (AddAt).
type CronController struct {
	*reconcile.Controller[meta.Key]
	*cluster.Cluster
	crons, jobs *reconcile.Cache[*reconcile.Item]
	recorder    *reconcile.Recorder
	scheduledAt string // the annotation of Jobs with their time
}

// NewCron makes the controller of CronJobs.
func NewCron(c *cluster.Cluster) *CronController {
	j := &CronController{
		Cluster: c, crons: c.Items("batch", "v1", "CronJob"), jobs: c.Items("batch", "v1", "Job"), recorder: c.Recorder("cronjob-controller"),
		scheduledAt: c.Naming.Translate("batch.platform.io/cronjob-scheduled-timestamp"),
	}
	j.Controller = c.Workloads("cronjob", j.crons, j.reconcile, j.jobs)
	reconcile.FollowDependents(j.Controller, j.jobs, j.crons)
	return j
}

// A run is one turn of a CronJob.
// It reads the lists and times from the status, changes them as the turn goes on, and writes them in the end in one
// write. It belongs to one worker, so that nothing in it needs a lock.
type run struct {
	*CronController
	reconcile.Reporter
	item   *reconcile.Item
	tree   tree.Tree // as it is stored
	spec   tree.Tree
	active []tree.Tree // references to Jobs that run
	last   string      // lastScheduleTime, and lastSuccessfulTime
	won    string
	now    time.Time
}

// A child is a Job of a CronJob.
type child struct {
	*reconcile.Item
	status tree.Tree
	ended  string // the condition that it ended with; "" while it runs
}

// reconcile takes one turn.
func (j *CronController) reconcile(ctx context.Context, item *reconcile.Item, t tree.Tree) error {
	status := t.Object("status")
	r := &run{CronController: j, Reporter: j.recorder.About(item), item: item, tree: t, spec: t.Object("spec"), active: status.Objects("active"), now: j.Now()}
	r.last, r.won = status.String("lastScheduleTime"), status.String("lastSuccessfulTime")
	children, err := r.children()
	if err != nil {
		return err
	}
	// A new Job must come after the list of running ones is up to date, or Forbid would be decided on Jobs that have
	// ended.
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

// children are the Jobs that the CronJob controls, in the order of their names. They are found by the owner reference,
// never by labels: a CronJob has no selector, and adopts nothing.
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

// runs tells whether a Job is in the list of those that run. It compares uids, since a name may have been used again.
func (r *run) runs(uid string) bool {
	return slices.ContainsFunc(r.active, func(a tree.Tree) bool { return a.String("uid") == uid })
}

// drop takes a Job out of that list; one that is not in it is no error.
func (r *run) drop(uid string) {
	r.active = slices.DeleteFunc(r.active, func(a tree.Tree) bool { return a.String("uid") == uid })
}

// cleanUp deletes the oldest Jobs that have ended, beyond the limits.
// A limit that is missing keeps all; a limit of 0 keeps none. The two kinds of end have limits of their own, so that
// many successes do not push out the last failure that somebody wants to look at.
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
			_ = r.remove(ctx, c.Item) // it is told in an Event, and tried again in the next turn
		}
	}
}

// byStart puts Jobs that started earlier first, and those that have not started last.
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

// remove deletes a Job, and its Pods in the background, and takes it off the list of those that run.
func (r *run) remove(ctx context.Context, i *reconcile.Item) error {
	if err := r.jobs.Remove(ctx, &i.Head, "Background"); err != nil {
		r.Warn("FailedDelete", "Deleted job: %v", err)
		return err
	}
	r.drop(i.UID)
	r.Normal("SuccessfulDelete", "Deleted job %s", i.Key.Name)
	return nil
}

// observe brings the list of Jobs that run, and the time of the last success, to what there is.
// A Job that runs but is not listed is only told of, not added: it may have been made by hand from the same template,
// and must not keep a Forbid schedule from running.
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
		if at := c.status.String("completionTime"); c.ended == complete && at > r.won { // in one format, so texts compare as times
			r.won = at
		}
	}
}

// forget drops Jobs from the list that are no more.
// The store is asked before one is dropped: the cache may lag behind it, and dropping a Job that still runs would let
// Forbid start a second one beside it.
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

// jobKey is the key of a Job with a name, in the namespace of the CronJob.
func (r *run) jobKey(name string) meta.Key {
	return r.jobs.Key(r.item.Key.Namespace, name)
}

// start makes the Job whose time has come, and comes back for the next one.
// What is wrong with a schedule is told by an Event and is no error: trying again would not help, and a change of the
// CronJob brings it back to the queue anyway.
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
		// So next begins its search here, and does not go through the missed times once more.
		s.last = reconcile.Time(tree.Tree{"at": r.last}, "at")
	}
	if next := s.next(r.now); next.After(s.created) {
		r.AddAt(r.item.Key, next)
	}
	return nil
}

// mayStart tells whether a Job of a time is to be made now.
// A Job of that time that is listed as running counts as made even if the last time does not say so.
func (r *run) mayStart(s schedule, at time.Time) bool {
	name := jobName(r.item.Key.Name, at)
	switch {
	case s.tooLate(at, r.now):
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

// replace deletes Jobs that still run, where the next one takes their place.
// A failure to delete is an error and the new Job is not made in this turn, for the two would run side by side.
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

// jobName is the name of the Job of a time, so that no time has two.
// The unit is minutes since 1970, which is as fine as the five fields of a schedule can be. Of the times of an @every below
// a minute those of one minute share a Job, as in release 1.35.
func jobName(cron string, at time.Time) string { return fmt.Sprintf("%s-%d", cron, at.Unix()/60) }

// create makes the Job of a time and puts it on the list. The name is the lock: of two processes that make it, one is
// told that it exists, and then treats it as its own if the CronJob controls it.
func (r *run) create(ctx context.Context, at time.Time) error {
	o, err := r.jobs.Create(ctx, r.job(at))
	switch {
	case reconcile.IsAlreadyExists(err):
		// A turn that was cut short may have made it.
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

// hasEnded tells whether a Job that was found in the store has ended already, so that it is not listed as running.
func (r *run) hasEnded(o *meta.Object) bool {
	t, err := r.jobs.Decode(o)
	return err == nil && finished(t.Object("status")) != nil
}

// job is the Job of a time.
// The annotation with the time is in the zone of the CronJob, as readers of it expect; the name does not depend on the
// zone.
func (r *run) job(at time.Time) tree.Tree {
	template := r.spec.Object("jobTemplate")
	metadata := tree.Tree{"namespace": r.item.Key.Namespace, "name": jobName(r.item.Key.Name, at), "ownerReferences": []any{r.item.ControllerReference()}}
	if labels := template.Object("metadata", "labels"); len(labels) > 0 {
		metadata["labels"] = tree.Clone(labels)
	}
	annotations := template.Object("metadata", "annotations").Copy()
	zone, err := time.LoadLocation(r.spec.String("timeZone"))
	if err != nil {
		zone = time.UTC
	}
	annotations[r.scheduledAt] = at.In(zone).Format(time.RFC3339)
	metadata["annotations"] = annotations
	return tree.Tree{"metadata": metadata, "spec": tree.Clone(template.Object("spec"))}
}

// write writes the status, if it says anything new.
// Fields that are empty are left out, so that the comparison with the stored status does not see a difference in each
// turn. A conflict is returned and the turn taken again on the newer object.
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
