package rbac_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/authz/rbac"
)

// A conflictingStore fails the first write of each object with a conflict. If full is set, it fails
// all writes.
type conflictingStore struct {
	*testStore
	attempted map[meta.Key]bool
	lock      chan struct{}
	full      bool
}

func (h *conflictingStore) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	if h.full {
		return request.Result{}, meta.NewInsufficientStorage("the disk is full")
	}
	h.lock <- struct{}{}
	tried := h.attempted[m.Key]
	h.attempted[m.Key] = true
	<-h.lock
	if !tried {
		return request.Result{}, meta.NewConflict(m.Key.GroupResource, m.Key.Name, "it has changed")
	}
	return h.testStore.Mutate(ctx, m)
}

func TestReconcileConflicts(t *testing.T) {
	h := &conflictingStore{testStore: openStore(t, meta.Platform), attempted: map[meta.Key]bool{}, lock: make(chan struct{}, 1)}
	h.full = true
	err := rbac.Reconcile(t.Context(), h, h.kinds, rbac.Pages{})
	var status *meta.Status
	if !errors.As(err, &status) || status.Code != 507 || strings.Count(err.Error(), "the disk is full") != 3 || !strings.Contains(err.Error(), "more") {
		t.Errorf("on a full disk: %v", err)
	}
	h.full = false
	if err := rbac.Reconcile(t.Context(), h, h.kinds, rbac.Pages{}); err != nil {
		t.Error(err)
	}
	if n := h.reconcile(t); n != 0 {
		t.Errorf("%d objects were left out", n)
	}
}
