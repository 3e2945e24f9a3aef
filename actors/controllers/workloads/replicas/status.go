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

const replicaFailure = "ReplicaFailure"

// observed holds the Pods of a set at the start of a reconciliation. It omits the reconciliation's
// own changes, which trigger another reconciliation that updates the status.
type observed struct {
	pods        []*cluster.Pod // active and owned
	terminating int            // terminating Pods; -1 if not reported
	failure     error          // of creates or deletes
	now         time.Time
}

// newStatus returns a set's status. recheck is the time until the next Pod becomes available, or 0.
// fullyLabeledReplicas counts Pods that have all of the template's labels.
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

func hasAll(labels, wanted meta.Labels) bool {
	for _, l := range wanted {
		if v, ok := labels.Get(l.Key); !ok || v != l.Value {
			return false
		}
	}
	return true
}

// conditions adds or removes ReplicaFailure. It keeps the first failure's message, because varying
// messages would cause a write in each reconciliation.
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

func firstError(err error) string {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) && len(joined.Unwrap()) > 0 {
		return joined.Unwrap()[0].Error()
	}
	return err.Error()
}
