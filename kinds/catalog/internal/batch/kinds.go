package batch

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of batch with their functions.
func Kinds(n *meta.Naming) []family.Kind {
	return []family.Kind{
		{Name: "batch/v1/CronJob", Rules: cronJobRules()},
		{Name: "batch/v1/Job", Rules: jobRules(n), Views: family.Views{"status": {Write: writeJobStatus}}},
	}
}
