package replicas

import (
	"errors"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// replicaFailure is the condition of a set that cannot create or delete its Pods.
const replicaFailure = "ReplicaFailure"

// observed is what is known of a set when its status is computed.
// The numbers are of the Pods before the turn has changed them: what was created or deleted changes the cache, which
// brings the next turn.
type observed struct {
	pods        []*cluster.Pod // active, and its own
	terminating int            // Pods that are on their way out; -1 where that is not told
	failure     error          // of creating or deleting
	now         time.Time
}

// newStatus is the status of a set, and after how long a Pod becomes available that is not yet; 0 for none.
// fullyLabeledReplicas are Pods with all labels of the template, which may be more than the selector asks for.
func newStatus(set tree.Tree, o observed) (status tree.Tree, recheck time.Duration) {
	spec, old := set.Object("spec"), set.Object("status")
	seconds, _ := spec.Int("minReadySeconds")
	template := selector.LabelsOf(spec.Object("template", "metadata", "labels"))
	var labelled, ready, available int64
	for _, p := range o.pods {
		if hasAll(p.Labels, template) {
			labelled++
		}
		if p.Ready {
			ready++
		}
		is, wait := p.Available(time.Duration(seconds)*time.Second, o.now)
		if is {
			available++
		} else if wait > 0 && (recheck == 0 || wait < recheck) {
			recheck = wait
		}
	}
	generation, _ := set.Object("metadata").Int("generation")
	status = tree.Tree{
		"replicas": int64(len(o.pods)), "fullyLabeledReplicas": labelled, "readyReplicas": ready, "availableReplicas": available,
		"observedGeneration": generation, "conditions": conditions(spec, old.List("conditions"), o),
	}
	if o.terminating >= 0 {
		status["terminatingReplicas"] = int64(o.terminating)
	}
	return status, recheck
}

// hasAll tells whether all wanted labels are there with the same values.
func hasAll(labels, wanted meta.Labels) bool {
	for _, l := range wanted {
		if v, ok := labels.Get(l.Key); !ok || v != l.Value {
			return false
		}
	}
	return true
}

// conditions tell of a failure from when it is first seen until it is over.
// A failure that lasts keeps the condition as it is, with its first message and time: messages often differ in details,
// and each difference would be a write in each turn.
func conditions(spec tree.Tree, old []any, o observed) []any {
	failed := reconcile.FindCondition(old, replicaFailure)
	switch {
	case o.failure != nil && failed == nil:
		wanted, _ := spec.Int("replicas")
		reason := ""
		switch n := int64(len(o.pods)); {
		case n < wanted:
			reason = "FailedCreate"
		case n > wanted:
			reason = "FailedDelete"
		}
		return reconcile.SetCondition(old, reconcile.NewCondition(replicaFailure, "True", reason, firstError(o.failure), o.now))
	case o.failure == nil && failed != nil:
		return reconcile.RemoveCondition(old, replicaFailure)
	}
	return old
}

// firstError is the text of one of joined errors: they mostly say the same.
func firstError(err error) string {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) && len(joined.Unwrap()) > 0 {
		return joined.Unwrap()[0].Error()
	}
	return err.Error()
}
