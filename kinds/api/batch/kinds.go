package batch

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds returns the group's kinds with their strategies. message looks up a Declaration by name.
func Kinds(n *meta.Naming, message func(name string) *schema.Declaration) []schema.Behavior {
	return []schema.Behavior{
		{Name: "batch/v1/CronJob", Strategy: cronJobStrategy{}},
		{Name: "batch/v1/Job", Strategy: jobStrategy{labels: newJobLabels(n), spec: message("batch.v1.JobSpec")}},
	}
}

// RuleFunctions returns the functions that declarative rules call by name.
func RuleFunctions(n *meta.Naming) map[string]schema.CheckFunc {
	return map[string]schema.CheckFunc{
		"cronSchedule":     schema.TextCheck(validateSchedule),
		"timeZone":         schema.TextCheck(validateZone),
		"generatedLabels":  schema.ObjectCheck(newJobLabels(n).validateGenerated),
		"jobIndexes":       schema.ObjectCheck(validateJobIndexes),
		"succeededIndexes": validateSuccessRule,
	}
}
