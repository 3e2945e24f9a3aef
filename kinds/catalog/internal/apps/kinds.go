package apps

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of apps with their functions. message finds the structure of a message by its name.
func Kinds(n *meta.Naming, message func(name string) *schema.Message) []family.Kind {
	pods := pod.NewWarnings(n)
	w := workloadWarnings{pods}
	counted := family.Views{"status": family.CheckedStatus(validateCollisions)}
	return []family.Kind{
		{Name: "apps/v1/ControllerRevision", Rules: revisionRules()},
		{Name: "apps/v1/DaemonSet", Rules: family.WarnChanges(pods.WithTemplateProfiles(daemonSetRules(), "spec", "template"), w.warnDaemonSet), Views: counted},
		{Name: "apps/v1/Deployment", Rules: family.WarnChanges(pods.WithTemplateProfiles(deploymentRules(), "spec", "template"), w.warnNamed), Views: counted},
		{Name: "apps/v1/ReplicaSet", Rules: family.WarnChanges(pods.WithTemplateProfiles(replicaSetRules(), "spec", "template"), w.warnNamed)},
		{Name: "apps/v1/StatefulSet", Rules: family.Warn(pods.WithTemplateProfiles(statefulSetRules(message("apps.v1.StatefulSetSpec")), "spec", "template"), w.warnStatefulSet), Views: counted},
	}
}
