package batch

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/tree"
)

// jobWarnings finds what is to be warned of in Jobs, mostly in their templates.
type jobWarnings struct {
	pods    *pod.Warnings
	product string
}

// warnJob and warnCronJob differ in where the spec lies, and so in the paths of their texts.
func (w jobWarnings) warnJob(obj, old tree.Tree) []string {
	return w.warn(obj, old, obj.Object("spec"), "spec")
}

func (w jobWarnings) warnCronJob(obj, old tree.Tree) []string {
	return w.warn(obj, old, obj.Object("spec", "jobTemplate", "spec"), "spec.jobTemplate.spec")
}

// warn warns of the name of a new object, and of a Job's spec, at path, which is new or changes.
func (w jobWarnings) warn(obj, old, spec tree.Tree, path string) (texts []string) {
	if old == nil {
		texts = warning.AppendHostName(texts, obj, "Pod names and hostnames")
	} else if !pod.Changes(obj, old) {
		return nil
	}
	completions, _ := spec.Int("completions")
	parallelism, _ := spec.Int("parallelism")
	if spec.String("completionMode") == completionModeIndexed && completions > indexedJobLimit && parallelism > indexedJobLimitHighCompletions {
		texts = append(texts, path+": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "+
			w.product+" might not be able to track completedIndexes when a big number of indexes fail")
	}
	if path == "spec" {
		return w.pods.AppendTemplate(texts, spec.Object("template"), "spec.template.")
	}
	return w.pods.AppendTemplate(texts, spec.Object("template"), "spec.jobTemplate.spec.template.")
}
