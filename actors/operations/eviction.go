package operations

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// An Evictor takes Pods away as far as disruption budgets allow. Many goroutines may use it.
type Evictor struct {
	store        Store
	pods, budget *schema.Kind
	now          func() time.Time
}

// NewEvictor makes an Evictor of the kinds of Pods and of their budgets. A nil kind of
// budgets means that there are none.
func NewEvictor(store Store, pods, budgets *schema.Kind) *Evictor {
	return &Evictor{store: store, pods: pods, budget: budgets, now: time.Now}
}

// An Eviction asks for one Pod to go.
type Eviction struct {
	Key    meta.Key // of the Pod
	Delete request.DeleteOptions
	DryRun bool
	// Manager is the field manager of the request.
	Manager string
}

// The tries of a step that meets changes by others, and the pauses between them.
const (
	tries      = 20
	firstPause = 5 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// Evict deletes the Pod, or says why it must stay. Pods that disturb nobody by going, and
// those that no budget covers, go at once.
func (e *Evictor) Evict(ctx context.Context, v Eviction) error {
	pod, gone, err := e.release(ctx, v)
	if err != nil || gone {
		return err
	}
	budgets, err := e.covering(ctx, pod)
	switch {
	case err != nil:
		return err
	case len(budgets) > 1:
		return &meta.Status{Code: http.StatusInternalServerError,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."}
	case len(budgets) == 0:
		return e.delete(ctx, v)
	case free(pod, budgets[0]):
		return e.deleteSeen(ctx, v, pod, budgets[0])
	}
	if err := e.spend(ctx, v, budgets[0]); err != nil {
		return err
	}
	return e.delete(ctx, v)
}

// release deletes a Pod that budgets do not count: one that has ended, that is going, or
// that does not run yet. It returns any other.
func (e *Evictor) release(ctx context.Context, v Eviction) (pod schema.Tree, gone bool, err error) {
	err = again(ctx, func() error {
		o, err := e.store.Get(ctx, request.Get{Kind: e.pods, Key: v.Key})
		if err != nil {
			return err
		}
		if pod, err = read(e.pods, o); err != nil {
			return err
		}
		phase := rules.Text(rules.Sub(pod, "status"), "phase")
		ended := phase == "Succeeded" || phase == "Failed" || rules.Has(rules.Sub(pod, "metadata"), "deletionTimestamp")
		if !ended && phase != "Pending" {
			return nil
		}
		once := v
		if !ended && v.Delete.ResourceVersion == "" {
			once.Delete.ResourceVersion = strconv.FormatUint(o.Version, 10) // it may begin to run
		}
		err = e.delete(ctx, once)
		gone = err == nil
		if v.Delete.ResourceVersion != "" && conflicts(err) {
			return final{err}
		}
		return err
	})
	return pod, gone, err
}

func (e *Evictor) delete(ctx context.Context, v Eviction) error {
	_, err := e.store.Mutate(ctx, request.Mutation{
		Verb: request.Delete, Kind: e.pods, Key: v.Key, Delete: v.Delete, DryRun: v.DryRun, FieldManager: v.Manager,
	})
	return err
}

// deleteSeen deletes a Pod that costs no disruption as long as it is as it was seen.
func (e *Evictor) deleteSeen(ctx context.Context, v Eviction, pod, budget schema.Tree) error {
	own := v.Delete.ResourceVersion != ""
	if !own {
		v.Delete.ResourceVersion = rules.Text(rules.Sub(pod, "metadata"), "resourceVersion")
	}
	err := e.delete(ctx, v)
	if conflicts(err) && !own {
		return processing(name(budget))
	}
	return err
}

// A final error is not tried again.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// again does what meets changes by others until it does not, or too often.
func again(ctx context.Context, do func() error) error {
	pause := firstPause
	for try := 1; ; try++ {
		err := do()
		if f, ok := err.(final); ok {
			return f.error
		}
		if !conflicts(err) || try == tries {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

func name(t schema.Tree) string { return rules.Text(rules.Sub(t, "metadata"), "name") }

// refusal is the answer to an eviction that cannot be now; seconds say when to ask again,
// 0 that nobody knows.
func refusal(seconds int, format string, args ...any) error {
	s := meta.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", seconds)
	s.Details.Causes = []meta.Cause{{Type: "DisruptionBudget", Message: fmt.Sprintf(format, args...)}}
	return s
}

// processing says that the budget will know more soon.
func processing(budget string) error {
	return refusal(10, "The disruption budget %s is still being processed by the server.", budget)
}
