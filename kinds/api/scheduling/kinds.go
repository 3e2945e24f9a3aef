package scheduling

import (
	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Kinds returns the group's kinds with their strategies.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "scheduling.platform.io/v1/PriorityClass", Strategy: priorityClassStrategy{}},
		{Name: "scheduling.platform.io/v1alpha3/CompositePodGroup", Strategy: podGroupStrategy{}},
		{Name: "scheduling.platform.io/v1beta1/PodGroup", Strategy: podGroupStrategy{}},
	}
}

type podGroupStrategy struct{ schema.KeptStatus }

func (podGroupStrategy) Default(obj tree.Tree) {
	field.SetIfAbsent(obj.EnsureObject("spec"), "disruptionMode", tree.Tree{"single": tree.Tree{}})
}
