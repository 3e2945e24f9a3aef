package apps

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
)

// Kinds lists the kinds of apps with their functions.
func Kinds() []family.Kind {
	return []family.Kind{
		{Name: "apps/v1/ControllerRevision", Rules: revisionRules()},
		{Name: "apps/v1/DaemonSet", Rules: daemonSetRules()},
		{Name: "apps/v1/Deployment", Rules: deploymentRules()},
		{Name: "apps/v1/ReplicaSet", Rules: replicaSetRules()},
		{Name: "apps/v1/StatefulSet", Rules: statefulSetRules()},
	}
}
