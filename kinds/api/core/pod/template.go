package pod

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// podTemplateStrategy has no Prepare: a PodTemplate has no status.
type podTemplateStrategy struct{ TemplateStrategy }

func (podTemplateStrategy) Default(obj tree.Tree) { DefaultTemplate(obj.EnsureObject("template")) }

// DefaultTemplate sets the defaults of a Pod template, except for those that only new Pods get,
// such as tolerations.
func DefaultTemplate(template tree.Tree) { defaultPodSpec(template.EnsureObject("spec")) }

// A TemplateStrategy is embedded by the strategies of kinds with a Pod template.
type TemplateStrategy struct {
	schema.DefaultStrategy
	*checks
	path   []string
	prefix string // of paths in the template
}

// NewTemplateStrategy returns the strategy for templates at path.
func NewTemplateStrategy(n *meta.Naming, path ...string) TemplateStrategy {
	return TemplateStrategy{checks: newChecks(n), path: path, prefix: strings.Join(path, ".") + "."}
}

// ValidateServed checks annotations and huge pages. An unchanged template stays valid.
func (s TemplateStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	template, was := obj.Object(s.path...), old.Object(s.path...)
	validatePages(template.Object("spec"), was.Object("spec"), s.prefix+"spec", faults)
	if old == nil || !tree.SemanticEqual(template, was) {
		s.validateAnnotations(template, s.prefix, s.prefix+"annotations", faults)
	}
}
