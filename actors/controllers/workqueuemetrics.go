package controllers

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
)

// WorkqueueMetrics are the figures of the work queues of all controllers, in the names of kube-controller-manager.
type WorkqueueMetrics = reconcile.Metrics

// NewWorkqueueMetrics makes metrics without queues.
func NewWorkqueueMetrics() *WorkqueueMetrics { return reconcile.NewMetrics() }

// WithWorkqueueMetrics returns the context for a controller whose queues are counted: under their own names or, where
// they have none, under the controller's.
func WithWorkqueueMetrics(ctx context.Context, m *WorkqueueMetrics, controller string) context.Context {
	return reconcile.WithMetrics(ctx, m, controller)
}
