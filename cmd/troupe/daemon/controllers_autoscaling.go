package daemon

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/actors/controllers/workloads/autoscaler"
)

// Autoscaling is when and how much the controller of HorizontalPodAutoscalers scales.
type Autoscaling struct {
	SyncPeriod              Duration `json:"syncPeriod"`              // between two looks at an autoscaler
	DownscaleStabilization  Duration `json:"downscaleStabilization"`  // how long the highest recommendation counts
	Tolerance               float64  `json:"tolerance"`               // of the ratio of use and target
	CPUInitializationPeriod Duration `json:"cpuInitializationPeriod"` // how long Pods may be starting
	InitialReadinessDelay   Duration `json:"initialReadinessDelay"`   // how soon they count as never ready
}

// defaultAutoscaling are the defaults of kube-controller-manager.
func defaultAutoscaling() Autoscaling {
	return Autoscaling{
		SyncPeriod: Duration(15 * time.Second), DownscaleStabilization: Duration(5 * time.Minute), Tolerance: 0.1,
		CPUInitializationPeriod: Duration(5 * time.Minute), InitialReadinessDelay: Duration(30 * time.Second),
	}
}

// flags binds the section.
func (a *Autoscaling) flags(f *pflag.FlagSet) {
	f.Var(&a.SyncPeriod, "horizontal-pod-autoscaler-sync-period", "Time between two looks at a HorizontalPodAutoscaler.")
	f.Var(&a.DownscaleStabilization, "horizontal-pod-autoscaler-downscale-stabilization", "How long the highest recommendation of an autoscaler counts, before fewer replicas are wanted.")
	f.Float64Var(&a.Tolerance, "horizontal-pod-autoscaler-tolerance", a.Tolerance, "How far from 1 the ratio of use and target may be without any change.")
	f.Var(&a.CPUInitializationPeriod, "horizontal-pod-autoscaler-cpu-initialization-period", "How long after its start a Pod may be starting, so that its CPU time does not count.")
	f.Var(&a.InitialReadinessDelay, "horizontal-pod-autoscaler-initial-readiness-delay", "How soon after its start a Pod must have become unready to count as one that was never ready.")
}

func (a Autoscaling) validate(f *faults) {
	f.positive("autoscaling.syncPeriod", a.SyncPeriod)
	f.check(a.DownscaleStabilization >= 0, "autoscaling.downscaleStabilization", "must not be below 0")
	f.check(a.Tolerance >= 0 && a.Tolerance < 1, "autoscaling.tolerance", "must be 0 or more, and below 1")
	f.check(a.CPUInitializationPeriod >= 0, "autoscaling.cpuInitializationPeriod", "must not be below 0")
	f.check(a.InitialReadinessDelay >= 0, "autoscaling.initialReadinessDelay", "must not be below 0")
}

// autoscalers describes the controller of HorizontalPodAutoscalers.
func autoscalers() builtIn {
	b := workload("horizontal-pod-autoscaler-controller", "horizontalpodautoscaling", nil)
	b.ofCluster = func(c *clusterControllers) controller {
		a := c.config.Autoscaling
		return c.workloads.Autoscalers(c.aggregator, autoscaler.Options{
			Period: time.Duration(a.SyncPeriod), DownscaleStabilization: time.Duration(a.DownscaleStabilization), Tolerance: a.Tolerance,
			CPUInitializationPeriod: time.Duration(a.CPUInitializationPeriod), InitialReadinessDelay: time.Duration(a.InitialReadinessDelay),
		})
	}
	return b
}
