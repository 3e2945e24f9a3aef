package batch

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of batch with their functions. A CronJob has no selector to generate: each of its
// Jobs gets its own. message finds the structure of a message by its name.
func Kinds(n *meta.Naming, message func(name string) *schema.Message) []family.Kind {
	pods := pod.NewWarnings(n)
	w := jobWarnings{pods, n.Product()}
	return []family.Kind{
		{Name: "batch/v1/CronJob", Rules: family.WarnChanges(pods.WithTemplateProfiles(cronJobRules(), "spec", "jobTemplate", "spec", "template"), w.warnCronJob)},
		{Name: "batch/v1/Job", Rules: family.WarnChanges(pods.WithTemplateProfiles(jobRules(n, message("batch.v1.JobSpec")), "spec", "template"), w.warnJob), Views: family.Views{"status": {Write: writeJobStatus}}},
	}
}
