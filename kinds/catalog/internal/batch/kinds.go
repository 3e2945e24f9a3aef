package batch

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of batch with their functions. A CronJob has no selector to generate: each of its
// Jobs gets its own.
func Kinds(n *meta.Naming) []family.Kind {
	w := jobWarnings{pod.NewWarnings(n), n.Product()}
	return []family.Kind{
		{Name: "batch/v1/CronJob", Rules: family.WarnChanges(cronJobRules(), w.warnCronJob)},
		{Name: "batch/v1/Job", Rules: family.WarnChanges(jobRules(n), w.warnJob), Views: family.Views{"status": {Write: writeJobStatus}}},
	}
}
