package controllers

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
)

// WorkqueueMetrics holds the work queue metrics of all controllers, named as in
// kube-controller-manager.
type WorkqueueMetrics = reconcile.Metrics

// NewWorkqueueMetrics returns WorkqueueMetrics without work queues.
func NewWorkqueueMetrics() *WorkqueueMetrics { return reconcile.NewMetrics() }

// WithWorkqueueMetrics returns a context in which a controller's work queues report to m. Unnamed
// queues use the controller's name.
func WithWorkqueueMetrics(ctx context.Context, m *WorkqueueMetrics, controller string) context.Context {
	return reconcile.WithMetrics(ctx, m, controller)
}
