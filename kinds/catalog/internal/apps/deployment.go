package apps

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/tree"
)

// deploymentStrategy drops a status that comes with a create: it would be that of another object,
// and rollouts are followed by it. Annotations count for the generation, because the controller
// copies them to ReplicaSets.
type deploymentStrategy struct {
	NamedWorkload
	family.DropStatusOnCreate
}

func (deploymentStrategy) CountedMetadata() string { return "annotations" }

// A quarter fewer and a quarter more are the values that clients of the API know; they are stored, so that a later
// server with other defaults does not change how an existing object is updated.
func (deploymentStrategy) Default(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	pod.DefaultTemplate(spec.EnsureObject("template"))
	if strategy := spec.EnsureObject("strategy"); strategy.String("type") == "RollingUpdate" {
		rolling := strategy.EnsureObject("rollingUpdate")
		field.SetIfAbsent(rolling, "maxUnavailable", "25%")
		field.SetIfAbsent(rolling, "maxSurge", "25%")
	}
}
