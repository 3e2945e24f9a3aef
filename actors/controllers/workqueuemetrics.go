package controllers

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
)

// WorkqueueMetrics holds the metrics of all controllers' work queues, named as in
// kube-controller-manager.
type WorkqueueMetrics = reconcile.Metrics

// NewWorkqueueMetrics returns metrics without queues.
func NewWorkqueueMetrics() *WorkqueueMetrics { return reconcile.NewMetrics() }

// WithWorkqueueMetrics returns the context for a controller whose queues are measured, under their
// own names or else the controller's.
func WithWorkqueueMetrics(ctx context.Context, m *WorkqueueMetrics, controller string) context.Context {
	return reconcile.WithMetrics(ctx, m, controller)
}
