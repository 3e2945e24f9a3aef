package apps

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of apps with their functions.
func Kinds(n *meta.Naming) []family.Kind {
	w := workloadWarnings{pod.NewWarnings(n)}
	return []family.Kind{
		{Name: "apps/v1/ControllerRevision", Rules: revisionRules()},
		{Name: "apps/v1/DaemonSet", Rules: family.WarnChanges(daemonSetRules(), w.warnDaemonSet)},
		{Name: "apps/v1/Deployment", Rules: family.WarnChanges(deploymentRules(), w.warnNamed)},
		{Name: "apps/v1/ReplicaSet", Rules: family.WarnChanges(replicaSetRules(), w.warnNamed)},
		{Name: "apps/v1/StatefulSet", Rules: family.Warn(statefulSetRules(), w.warnStatefulSet)},
	}
}
