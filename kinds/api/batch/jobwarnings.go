package batch

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/api/core/pod"
	"github.com/troupe-api/troupe/kinds/api/internal/warning"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A jobTemplate is the strategy of kinds that contain a JobSpec.
type jobTemplate struct {
	pod.TemplateStrategy
	product string
	path    []string // of the spec
}

func newJobTemplate(n *meta.Naming, path ...string) jobTemplate {
	return jobTemplate{pod.NewTemplateStrategy(n, append(path, "template")...), n.Product(), path}
}

// Warnings warns about the name of a new object, and about a new or changed JobSpec.
func (j jobTemplate) Warnings(obj, old tree.Tree) (texts []string) {
	if old == nil {
		texts = warning.AppendHostName(texts, obj, "Pod names and hostnames")
	} else if !pod.Changes(obj, old) {
		return nil
	}
	spec := obj.Object(j.path...)
	completions, _ := spec.Int("completions")
	parallelism, _ := spec.Int("parallelism")
	if spec.String("completionMode") == "Indexed" && completions > 100_000 && parallelism > 10_000 {
		texts = append(texts, strings.Join(j.path, ".")+": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "+
			j.product+" might not be able to track completedIndexes when a big number of indexes fail")
	}
	return j.AppendWarnings(texts, obj)
}
