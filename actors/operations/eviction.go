package operations

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An Evictor deletes Pods if their disruption budgets allow it. It is safe for concurrent use.
type Evictor struct {
	store         Store
	pods, budgets *schema.Kind
	now           func() time.Time
}

// NewEvictor returns an Evictor. budgets is nil if PodDisruptionBudgets are not served.
func NewEvictor(store Store, pods, budgets *schema.Kind) *Evictor {
	return &Evictor{store: store, pods: pods, budgets: budgets, now: time.Now}
}

// An Eviction requests the deletion of one Pod.
type Eviction struct {
	Key     meta.Key // of the Pod
	Delete  request.Delete
	DryRun  bool
	Manager string
}

// Limits for retries. Many are allowed, because concurrent evictions often conflict on the same
// budget.
const (
	maxTries      = 20
	minRetryDelay = 5 * time.Millisecond
	maxRetryDelay = 500 * time.Millisecond
)

// Evict deletes the Pod, or returns an error that explains why it cannot be evicted.
//
// A Pod that has terminated or is not running yet is deleted immediately. Any other Pod may have at
// most one budget, which must allow the disruption. Evict takes the disruption before it deletes
// the Pod. If the deletion fails, the disruption controller corrects the count.
func (e *Evictor) Evict(ctx context.Context, v Eviction) error {
	pod, deleted, err := e.deleteUncounted(ctx, v)
	if err != nil || deleted {
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

// deleteUncounted deletes a Pod that no budget counts, because it has terminated, is terminating,
// or is not running yet. It returns any other Pod unchanged.
func (e *Evictor) deleteUncounted(ctx context.Context, v Eviction) (pod tree.Tree, deleted bool, err error) {
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
			once.Delete.ResourceVersion = new(strconv.FormatUint(o.Version, 10)) // the Pod may start to run
		}
		err = e.delete(ctx, once)
		deleted = err == nil
		if v.Delete.ResourceVersion != nil && isConflict(err) {
			return terminalError{err}
		}
		return err
	})
	return pod, deleted, err
}

// delete deletes the Pod with the options of the request. It first sets the Pod's DisruptionTarget
// condition, so that controllers can distinguish evicted Pods from failed Pods.
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

// markDisrupted sets the DisruptionTarget condition and returns the new version of the Pod. If a
// precondition of the request does not match, it changes nothing and returns an empty version, and
// the following deletion reports the mismatch.
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

// isOther reports whether a precondition is set but does not match. It ignores an empty
// precondition, which the deletion checks.
func isOther(precondition *string, of string) bool {
	return precondition != nil && *precondition != "" && *precondition != of
}

func addDisruptionTarget(status tree.Tree, now time.Time) {
	c := setCondition(status, "DisruptionTarget", "True", now)
	c["reason"], c["message"] = "EvictionByEvictionAPI", "Eviction API: evicting"
}

// deleteUnchanged deletes a Pod without taking a disruption from the budget. It fails if the Pod
// has changed since it was read.
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

// terminalError wraps an error that retryOnConflict must not retry.
type terminalError struct{ error }

func (f terminalError) Unwrap() error { return f.error }

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

func objectName(t tree.Tree) string { return t.Name() }

// tooManyRequests returns the error for an eviction that is not allowed now. The client should
// retry after the given seconds. 0 means unknown.
func tooManyRequests(seconds int, format string, args ...any) error {
	s := meta.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", seconds)
	s.Details.Causes = []meta.Cause{{Type: "DisruptionBudget", Message: fmt.Sprintf(format, args...)}}
	return s
}

func budgetNotObserved(budget string) error {
	return tooManyRequests(10, "The disruption budget %s is still being processed by the server.", budget)
}
