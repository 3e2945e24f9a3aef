package operations

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An Evictor deletes Pods as far as disruption budgets allow. Many goroutines may use it. now is the time,
// for tests.
type Evictor struct {
	store         Store
	pods, budgets *schema.Kind
	now           func() time.Time
}

// NewEvictor makes an Evictor of Pods and their budgets by their kinds. The kind of budgets is nil
// where none is served.
func NewEvictor(store Store, pods, budgets *schema.Kind) *Evictor {
	return &Evictor{store: store, pods: pods, budgets: budgets, now: time.Now}
}

// An Eviction asks for the deletion of one Pod.
type Eviction struct {
	Key    meta.Key // of the Pod
	Delete request.Delete
	DryRun bool
	// Manager is the field manager of the request.
	Manager string
}

// How often a step is tried that conflicts with changes by others, and the pauses between. With many
// evictions at once conflicts on one budget are usual.
const (
	maxTries      = 20
	minRetryDelay = 5 * time.Millisecond
	maxRetryDelay = 500 * time.Millisecond
)

// Evict deletes the Pod, or says why it must stay.
//
// A Pod that budgets do not count goes at once. Else there may be one budget at most, which must allow the
// disruption: it is taken from the budget before the deletion, so that two evictions cannot both use the
// last one. If the deletion then fails, the controller of the budget gives it back when it counts the Pods
// again.
func (e *Evictor) Evict(ctx context.Context, v Eviction) error {
	pod, gone, err := e.deleteUncounted(ctx, v)
	if err != nil || gone {
		return err
	}
	budgets, err := e.matchingBudgets(ctx, pod)
	switch {
	case err != nil:
		return err
	case len(budgets) > 1:
		return &meta.Status{Code: http.StatusInternalServerError,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."}
	case len(budgets) == 0:
		return e.delete(ctx, v)
	case bypassesBudget(pod, budgets[0]):
		return e.deleteUnchanged(ctx, v, pod, budgets[0])
	}
	if err := e.consumeDisruption(ctx, v, budgets[0]); err != nil {
		return err
	}
	return e.delete(ctx, v)
}

// deleteUncounted deletes a Pod that budgets do not count: one that has ended, is terminating, or
// does not run yet. It returns any other.
func (e *Evictor) deleteUncounted(ctx context.Context, v Eviction) (pod tree.Tree, gone bool, err error) {
	err = retryOnConflict(ctx, func() error {
		o, err := e.store.Get(ctx, request.Get{Kind: e.pods, Key: v.Key})
		if err != nil {
			return err
		}
		if pod, err = decode(e.pods, o); err != nil {
			return err
		}
		phase := pod.Object("status").String("phase")
		ended := phase == "Succeeded" || phase == "Failed" || pod.Object("metadata").Has("deletionTimestamp")
		if !ended && phase != "Pending" {
			return nil
		}
		once := v
		if !ended && v.Delete.ResourceVersion == nil {
			once.Delete.ResourceVersion = new(strconv.FormatUint(o.Version, 10)) // it may begin to run
		}
		err = e.delete(ctx, once)
		gone = err == nil
		if v.Delete.ResourceVersion != nil && isConflict(err) {
			return terminalError{err}
		}
		return err
	})
	return pod, gone, err
}

// delete removes the Pod as a client's own request would, with its options. Before that it gets the condition by which controllers
// tell a Pod that was evicted from one that failed.
func (e *Evictor) delete(ctx context.Context, v Eviction) error {
	if !v.DryRun {
		version, err := e.markDisrupted(ctx, v)
		if err != nil {
			return err
		}
		if v.Delete.ResourceVersion != nil && version != "" {
			v.Delete.ResourceVersion = &version
		}
	}
	_, err := e.store.Mutate(ctx, request.Mutation{
		Kind: e.pods, Key: v.Key, Change: v.Delete, DryRun: v.DryRun, FieldManager: v.Manager,
	})
	return err
}

// markDisrupted adds the condition, and returns the version that the Pod has then; "" if it is not the one that is to go, which the
// deletion will report.
func (e *Evictor) markDisrupted(ctx context.Context, v Eviction) (version string, err error) {
	err = retryOnConflict(ctx, func() error {
		o, err := e.store.Get(ctx, request.Get{Kind: e.pods, Key: v.Key})
		if err != nil {
			return err
		}
		pod, err := decode(e.pods, o)
		if err != nil {
			return err
		}
		if metadata := pod.Object("metadata"); isOther(v.Delete.UID, metadata.String("uid")) || isOther(v.Delete.ResourceVersion, metadata.String("resourceVersion")) {
			return nil
		}
		addDisruptionTarget(pod.EnsureObject("status"), e.now())
		result, err := e.store.Mutate(ctx, request.Mutation{
			Kind: e.pods, Key: v.Key, Subresource: "status", Change: request.Update{Object: pod}, FieldManager: v.Manager, KeepsOwners: true,
		})
		if err == nil {
			version = strconv.FormatUint(result.Object.Version, 10)
		}
		return err
	})
	return version, err
}

// isOther tells whether a precondition names another Pod than this one. An empty one is left to the deletion, which takes
// the version that the Pod has then, as clients know it.
func isOther(precondition *string, of string) bool {
	return precondition != nil && *precondition != "" && *precondition != of
}

// addDisruptionTarget adds the condition to a status, or leaves it as it is.
func addDisruptionTarget(status tree.Tree, now time.Time) {
	const kind = "DisruptionTarget"
	c := condition.Find(status, kind)
	if c == nil {
		c = tree.Tree{"type": kind}
		status["conditions"] = append(status.List("conditions"), c)
	}
	if c.String("status") != "True" {
		c["status"], c["lastTransitionTime"] = "True", now.UTC().Format(time.RFC3339)
	}
	c["reason"], c["message"] = "EvictionByEvictionAPI", "Eviction API: evicting"
}

// deleteUnchanged deletes a Pod that costs no disruption, if it has not changed since it was read.
func (e *Evictor) deleteUnchanged(ctx context.Context, v Eviction, pod, budget tree.Tree) error {
	own := v.Delete.ResourceVersion != nil
	if !own {
		v.Delete.ResourceVersion = new(pod.Object("metadata").String("resourceVersion"))
	}
	err := e.delete(ctx, v)
	if isConflict(err) && !own {
		return budgetNotObserved(objectName(budget))
	}
	return err
}

// terminalError is an error after which a step is not tried again.
type terminalError struct{ error }

func (f terminalError) Unwrap() error { return f.error }

// retryOnConflict tries a step again that conflicts with changes by others, up to maxTries times.
func retryOnConflict(ctx context.Context, do func() error) error {
	pause := minRetryDelay
	for try := 1; ; try++ {
		err := do()
		if f, ok := err.(terminalError); ok {
			return f.error
		}
		if !isConflict(err) || try == maxTries {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		pause = min(2*pause, maxRetryDelay)
	}
}

func objectName(t tree.Tree) string { return t.Object("metadata").String("name") }

// tooManyRequests answers an eviction that is not allowed now; seconds say when to try again, 0 if
// that is not known.
func tooManyRequests(seconds int, format string, args ...any) error {
	s := meta.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", seconds)
	s.Details.Causes = []meta.Cause{{Type: "DisruptionBudget", Message: fmt.Sprintf(format, args...)}}
	return s
}

// budgetNotObserved says that the controller of the budget has not seen its newest state yet.
func budgetNotObserved(budget string) error {
	return tooManyRequests(10, "The disruption budget %s is still being processed by the server.", budget)
}
