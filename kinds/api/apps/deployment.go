package apps

import (
	"github.com/troupe-api/troupe/kinds/api/core/pod"
	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// deploymentStrategy drops the status on create. An annotation change increments the generation,
// because the controller copies annotations to ReplicaSets.
type deploymentStrategy struct {
	schema.DefaultStrategy
	schema.DropStatusOnCreate
}

func (deploymentStrategy) CountedMetadata() string { return "annotations" }

func (deploymentStrategy) Default(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	pod.DefaultTemplate(spec.EnsureObject("template"))
	if strategy := spec.EnsureObject("strategy"); strategy.String("type") == "RollingUpdate" {
		rolling := strategy.EnsureObject("rollingUpdate")
		field.SetIfAbsent(rolling, "maxUnavailable", "25%")
		field.SetIfAbsent(rolling, "maxSurge", "25%")
	}
}
