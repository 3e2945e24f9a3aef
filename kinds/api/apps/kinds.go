package apps

import (
	"github.com/troupe-api/troupe/kinds/api/core/pod"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of apps with their strategies. message returns a message by its name.
func Kinds(n *meta.Naming, message func(name string) *schema.Message) []schema.Behavior {
	templates := pod.NewTemplateStrategy(n, "spec", "template")
	return []schema.Behavior{
		{Name: "apps/v1/DaemonSet", Strategy: daemonSetStrategy{TemplateStrategy: templates}},
		{Name: "apps/v1/Deployment", Strategy: deploymentStrategy{TemplateStrategy: templates}},
		{Name: "apps/v1/ReplicaSet", Strategy: replicaSetStrategy{TemplateStrategy: templates}},
		{Name: "apps/v1/StatefulSet", Strategy: statefulSetStrategy{templates, message("apps.v1.StatefulSetSpec")}},
	}
}

// RuleFunctions are the functions that declared rules call.
var RuleFunctions = map[string]schema.CheckFunc{"templateGeneration": schema.ObjectCheck(validateTemplateGeneration)}
