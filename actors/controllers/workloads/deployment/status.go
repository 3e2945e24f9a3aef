package deployment

import (
	"fmt"
	"math"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Condition types of a Deployment, and reasons of Progressing.
const (
	availableCondition = "Available"
	progressing        = "Progressing"
	replicaFailure     = "ReplicaFailure"

	newSetAvailable = "NewReplicaSetAvailable"
	timedOut        = "ProgressDeadlineExceeded"
	paused          = "DeploymentPaused"
)

func newCondition(kind, status, reason, message string, now time.Time) tree.Tree {
	c := reconcile.NewCondition(kind, status, reason, message, now)
	c["lastUpdateTime"] = c["lastTransitionTime"]
	return c
}

// counts returns the status without rollout progress. conditions are the previous conditions.
// Available depends on minAvailable, so a Deployment can be Available during a rollout.
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

// terminating returns the number of terminating Pods. ok is false if a ReplicaSet does not report
// this number, because the sum would be too low. A ReplicaSet without a status has no Pods and is
// skipped.
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

func number(status tree.Tree, field string) int64 {
	n, _ := status.Int(field)
	return n
}

func complete(p pace, status tree.Tree, generation int64) bool {
	return number(status, "updatedReplicas") == p.replicas && number(status, "replicas") == p.replicas &&
		number(status, "availableReplicas") == p.replicas && number(status, "observedGeneration") >= generation
}

func progressed(old, now tree.Tree) bool {
	gone := func(s tree.Tree) int64 { return number(s, "replicas") - number(s, "updatedReplicas") }
	return number(now, "updatedReplicas") > number(old, "updatedReplicas") || gone(now) < gone(old) ||
		number(now, "readyReplicas") > number(old, "readyReplicas") || number(now, "availableReplicas") > number(old, "availableReplicas")
}

// deadline returns how long a rollout may go without progress. It returns 0 for no limit, which
// clients specify as MaxInt32.
func deadline(spec tree.Tree) time.Duration {
	n, ok := spec.Int("progressDeadlineSeconds")
	if !ok || n == math.MaxInt32 {
		return 0
	}
	return time.Duration(n) * time.Second
}

func overdue(c tree.Tree, limit time.Duration, now time.Time) bool {
	switch {
	case limit == 0 || c == nil || c.String("reason") == newSetAvailable:
		return false
	case c.String("reason") == timedOut:
		return true
	}
	return reconcile.Time(c, "lastUpdateTime").Add(limit).Before(now)
}

// progress sets the Progressing condition. old is the stored status. A complete rollout keeps its
// condition until the template changes, because the progress deadline does not apply to the
// replacement of lost Pods.
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
	// Unlike SetCondition, always replace the condition, because its new time extends the deadline.
	case progressed(old, now):
		c := newCondition(progressing, "True", "ReplicaSetUpdated", what+" is progressing.", at)
		if is.String("status") == "True" {
			c["lastTransitionTime"] = is["lastTransitionTime"]
		}
		conditions = append(reconcile.RemoveCondition(conditions, progressing), c)
	case overdue(is, limit, at):
		conditions = reconcile.SetCondition(conditions, newCondition(progressing, "False", timedOut, what+" has timed out progressing.", at))
	}
	now["conditions"] = conditions
}

// failure copies the ReplicaFailure condition of a ReplicaSet, preferably the newest, to the
// Deployment's conditions. If no ReplicaSet has it, failure removes it.
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
