package apps

import (
	"github.com/troupe-api/troupe/kinds/api/core/pod"
	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type statefulSetStrategy struct {
	schema.AlwaysWarns
	hasBudget bool // rolling updates may set maxUnavailable
}

// Prepare sets a new object's replica counts to zero, because clients print them.
func (statefulSetStrategy) Prepare(obj, old tree.Tree) {
	if old == nil {
		obj["status"] = tree.Tree{"replicas": int64(0), "availableReplicas": int64(0)}
	}
}

// Default sets the kind and apiVersion of volumeClaimTemplates, which are embedded objects.
func (s statefulSetStrategy) Default(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	pod.DefaultTemplate(spec.EnsureObject("template"))
	strategy := spec.EnsureObject("updateStrategy")
	if strategy.String("type") == "" {
		strategy["type"] = "RollingUpdate"
		strategy.EnsureObject("rollingUpdate")
	}
	if rolling := strategy.Object("rollingUpdate"); rolling != nil && strategy["type"] == "RollingUpdate" {
		field.SetIfAbsent(rolling, "partition", int64(0))
		if s.hasBudget {
			field.SetIfAbsent(rolling, "maxUnavailable", int64(1))
		}
	}
	for _, claim := range spec.Objects("volumeClaimTemplates") {
		if claim != nil && (claim.String("kind") != "PersistentVolumeClaim" || claim.String("apiVersion") != "v1") {
			claim["kind"], claim["apiVersion"] = "PersistentVolumeClaim", "v1"
		}
	}
}
