package daemon

import (
	"time"

	"github.com/troupe-api/troupe/actors/controllers/workloads/autoscaler"
	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
)

// Autoscaling configures the HorizontalPodAutoscaler controller.
type Autoscaling struct {
	SyncPeriod              Duration `flag:"horizontal-pod-autoscaler-sync-period"`               // between two evaluations of an autoscaler
	DownscaleStabilization  Duration `flag:"horizontal-pod-autoscaler-downscale-stabilization"`   // how long the highest recommendation applies
	Tolerance               float64  `flag:"horizontal-pod-autoscaler-tolerance"`                 // tolerated deviation of usage/target from 1
	CPUInitializationPeriod Duration `flag:"horizontal-pod-autoscaler-cpu-initialization-period"` // how long Pods may be starting
	InitialReadinessDelay   Duration `flag:"horizontal-pod-autoscaler-initial-readiness-delay"`   // how soon they count as never ready
}

func autoscalers() builtIn {
	b := workload("horizontal-pod-autoscaler-controller", "horizontalpodautoscaling", nil)
	b.ofCluster = func(c *clusterControllers) controller {
		a := c.config.Autoscaling
		return c.workloads.Autoscalers(c.aggregator, autoscaler.Options{
			Period: time.Duration(a.SyncPeriod), DownscaleStabilization: time.Duration(a.DownscaleStabilization), Tolerance: a.Tolerance,
			CPUInitializationPeriod: time.Duration(a.CPUInitializationPeriod), InitialReadinessDelay: time.Duration(a.InitialReadinessDelay),
			ScaleToZero: c.features.Enabled(features.HPAScaleToZero),
		})
	}
	return b
}
