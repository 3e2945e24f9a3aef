package deployment

import (
	"fmt"
	"math"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The conditions of a Deployment, and the reasons of Progressing that are looked at again.
const (
	availableCondition = "Available"
	progressing        = "Progressing"
	replicaFailure     = "ReplicaFailure"

	newSetAvailable = "NewReplicaSetAvailable"
	timedOut        = "ProgressDeadlineExceeded"
	paused          = "DeploymentPaused"
)

// newCondition is a condition of a Deployment, which also tells when it was last looked at.
// For Progressing the time of that look is what the deadline is measured from, so it is only renewed when there was
// progress.
func newCondition(kind, status, reason, message string, now time.Time) tree.Tree {
	c := reconcile.NewCondition(kind, status, reason, message, now)
	c["lastUpdateTime"] = c["lastTransitionTime"]
	return c
}

// counts is a status without what is known of the rollout beside numbers. conditions are those before.
// It is written in every turn, also in those that roll out nothing. minAvailable decides on the condition Available, so
// a Deployment may be Available in the middle of a rollout.
func counts(p pace, sets []*replicaSet, newest *replicaSet, generation int64, collisions any, conditions []any, now time.Time) tree.Tree {
	all, can := sum(sets, wanted), sum(sets, available)
	status := tree.Tree{
		"observedGeneration": generation, "replicas": sum(sets, current), "updatedReplicas": sum([]*replicaSet{newest}, current),
		"readyReplicas": sum(sets, ready), "availableReplicas": can, "unavailableReplicas": max(0, all-can),
	}
	if n, ok := terminating(sets); ok {
		status["terminatingReplicas"] = n
	}
	if collisions != nil {
		status["collisionCount"] = collisions
	}
	c := newCondition(availableCondition, "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.", now)
	if can >= p.minAvailable() {
		c = newCondition(availableCondition, "True", "MinimumReplicasAvailable", "Deployment has minimum availability.", now)
	}
	status["conditions"] = reconcile.SetCondition(conditions, c)
	return status
}

// terminating is how many Pods are on their way out, unless a set does not tell.
// A set that was never observed has no status yet and is passed over, since it has no Pods either. If a set that was
// observed does not tell, the sum would be too low, so the field is left out altogether.
func terminating(sets []*replicaSet) (n int64, ok bool) {
	for _, rs := range sets {
		if rs == nil || rs.observed == 0 && !rs.tellsTerminating {
			continue
		}
		if !rs.tellsTerminating {
			return 0, false
		}
		n += rs.terminating
	}
	return n, true
}

// number is a field that is a number; 0 if it is not there.
func number(status tree.Tree, field string) int64 {
	n, _ := status.Int(field)
	return n
}

// complete tells whether nothing is left to be rolled out.
// The generation in the status says whether it was counted after the last change of the Deployment: numbers from before
// it tell nothing about the new spec.
func complete(p pace, status tree.Tree, generation int64) bool {
	return number(status, "updatedReplicas") == p.replicas && number(status, "replicas") == p.replicas &&
		number(status, "availableReplicas") == p.replicas && number(status, "observedGeneration") >= generation
}

// progressed tells whether a rollout has come further: more new Pods, fewer old ones, more that are ready or available.
// Both are statuses: the one that is stored, and the one that was just counted.
func progressed(old, now tree.Tree) bool {
	gone := func(s tree.Tree) int64 { return number(s, "replicas") - number(s, "updatedReplicas") }
	return number(now, "updatedReplicas") > number(old, "updatedReplicas") || gone(now) < gone(old) ||
		number(now, "readyReplicas") > number(old, "readyReplicas") || number(now, "availableReplicas") > number(old, "availableReplicas")
}

// deadline is how long a rollout may go without progress; 0 for as long as it takes.
// The largest number of 32 bits is how clients write that there is no deadline.
func deadline(spec tree.Tree) time.Duration {
	n, ok := spec.Int("progressDeadlineSeconds")
	if !ok || n == math.MaxInt32 {
		return 0
	}
	return time.Duration(n) * time.Second
}

// overdue tells whether a rollout has gone without progress for too long.
// A rollout that is complete is never overdue, however long ago it made progress; one that has timed out stays so until
// there is progress again.
func overdue(c tree.Tree, limit time.Duration, now time.Time) bool {
	switch {
	case limit == 0 || c == nil || c.String("reason") == newSetAvailable:
		return false
	case c.String("reason") == timedOut:
		return true
	}
	return reconcile.Time(c, "lastUpdateTime").Add(limit).Before(now)
}

// progress tells in a status how the rollout goes. old is the status that is stored, which may say less than the
// conditions of now.
// A rollout that has completed once keeps that condition as long as no other template is rolled out, even while Pods are
// missing again: replacing lost Pods is not progress of a rollout and has no deadline.
func progress(spec tree.Tree, p pace, old, now tree.Tree, name, newSet string, generation int64, at time.Time) {
	conditions := now.List("conditions")
	limit := deadline(spec)
	if limit == 0 {
		now["conditions"] = reconcile.RemoveCondition(conditions, progressing)
		return
	}
	is := reconcile.FindCondition(conditions, progressing)
	if number(now, "replicas") == number(now, "updatedReplicas") && is.String("reason") == newSetAvailable {
		return
	}
	what := fmt.Sprintf("Deployment %q", name)
	if newSet != "" {
		what = fmt.Sprintf("ReplicaSet %q", newSet)
	}
	switch {
	case complete(p, now, generation):
		conditions = reconcile.SetCondition(conditions, newCondition(progressing, "True", newSetAvailable, what+" has successfully progressed.", at))
	// The condition is replaced even if status and reason are the same, which SetCondition would not do: the new time is
	// what puts off the deadline.
	case progressed(old, now):
		c := newCondition(progressing, "True", "ReplicaSetUpdated", what+" is progressing.", at)
		if is.String("status") == "True" {
			c["lastTransitionTime"] = is["lastTransitionTime"]
		}
		conditions = append(reconcile.RemoveCondition(conditions, progressing), c) // its time says when there was progress
	case overdue(is, limit, at):
		conditions = reconcile.SetCondition(conditions, newCondition(progressing, "False", timedOut, what+" has timed out progressing.", at))
	}
	now["conditions"] = conditions
}

// failure takes the condition of a set that cannot create its Pods over, the newest set first.
// Without one the condition is removed: it tells of a failure of now and not of the past.
func failure(conditions []any, newest *replicaSet, sets []*replicaSet) []any {
	for _, rs := range append([]*replicaSet{newest}, sets...) {
		if rs == nil {
			continue
		}
		if c := reconcile.FindCondition(rs.tree.Object("status").List("conditions"), replicaFailure); c != nil {
			mine := tree.Tree{"lastUpdateTime": c["lastTransitionTime"]}
			for _, field := range []string{"type", "status", "reason", "message", "lastTransitionTime"} {
				mine.CopyField(c, field)
			}
			return reconcile.SetCondition(conditions, mine)
		}
	}
	return reconcile.RemoveCondition(conditions, replicaFailure)
}
