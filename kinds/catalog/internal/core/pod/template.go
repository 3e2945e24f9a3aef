package pod

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// podTemplateStrategy has no Prepare: a PodTemplate has no status, and no controller of its own.
type podTemplateStrategy struct{ TemplateStrategy }

func (podTemplateStrategy) Default(obj tree.Tree) { DefaultTemplate(obj.EnsureObject("template")) }

func (podTemplateStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	ValidateTemplate(obj.Object("template"), "template", nil, faults)
}

// DefaultTemplate fills in a Pod template. Defaults that are only set when a Pod is created, such as
// its tolerations, are left out.
func DefaultTemplate(template tree.Tree) { defaultPodSpec(template.EnsureObject("spec")) }

// ValidateTemplate checks a Pod template at path. claims are the names of volumes that each Pod gets
// in addition to those of the template.
//
// A template is checked like a Pod, so that a workload whose Pods could not be made is refused when it is written.
func ValidateTemplate(template tree.Tree, path string, claims []string, faults *schema.Faults) {
	rules.ValidateLabels(template.Object("metadata", "labels"), path+".labels", faults)
	rules.ValidateAnnotations(template.Object("metadata", "annotations"), path+".annotations", faults)
	spec := template.Object("spec")
	validatePodSpec(withClaimVolumes(spec, claims), path+".spec", faults)
	if len(spec.List("ephemeralContainers")) > 0 {
		faults.Forbidden(path+".spec.ephemeralContainers", "ephemeral containers not allowed in pod template")
	}
}

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

// ValidateServed checks annotations and huge pages. A template that stays as it is stays valid.
func (s TemplateStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	template, was := obj.Object(s.path...), old.Object(s.path...)
	validatePages(template.Object("spec"), was.Object("spec"), s.prefix+"spec", faults)
	if old == nil || !tree.SemanticEqual(template, was) {
		s.validateAnnotations(template, s.prefix, s.prefix+"annotations", faults)
	}
}

// Warnings warns of an object that is new, or whose template changes.
func (s TemplateStrategy) Warnings(obj, old tree.Tree) []string {
	if !Changes(obj, old) {
		return nil
	}
	return s.AppendWarnings(nil, obj)
}

// AppendWarnings warns of the template of obj.
func (s TemplateStrategy) AppendWarnings(texts []string, obj tree.Tree) []string {
	template := obj.Object(s.path...)
	if template == nil {
		return texts
	}
	c := collector{checks: s.checks, texts: texts, prefix: s.prefix, meta: template.Object("metadata"), spec: template.Object("spec")}
	c.warnAll()
	return c.texts
}

// withClaimVolumes returns a spec with the volumes of claims added, so that containers may mount them. They
// replace volumes of the same name. That is how a StatefulSet's claim templates become mountable. The spec
// is copied one level deep, and the stand-in volume's source is never stored.
func withClaimVolumes(spec tree.Tree, claims []string) tree.Tree {
	if len(claims) == 0 {
		return spec
	}
	own := map[string]bool{}
	for _, v := range spec.Objects("volumes") {
		own[v.String("name")] = true
	}
	volumes := slices.Clone(spec.List("volumes"))
	for _, name := range claims {
		if !own[name] {
			own[name] = true
			volumes = append(volumes, tree.Tree{"name": name, "emptyDir": tree.Tree{}})
		}
	}
	out := tree.Tree{}
	for key, value := range spec {
		out[key] = value
	}
	out["volumes"] = volumes
	return out
}

// ValidateLongRunningTemplate checks what only templates of workloads that run for ever must meet:
// restartPolicy Always and no deadline. kind is the kind of the workload for messages. A Pod that ends by
// design would be replaced for ever.
func ValidateLongRunningTemplate(template tree.Tree, path, kind string, faults *schema.Faults) {
	spec := template.Object("spec")
	if policy := spec.String("restartPolicy"); policy != "" && policy != "Always" {
		faults.NotSupported(path+".spec.restartPolicy", policy, []string{"Always"})
	}
	if spec.Has("activeDeadlineSeconds") {
		faults.Forbidden(path+".spec.activeDeadlineSeconds", "activeDeadlineSeconds in "+kind+" is not Supported")
	}
}

// ValidateSelectorMatchesTemplate checks that a selector matches the labels of the template at path.
// Without a match a controller would not find the Pods that it has made, and make more.
func ValidateSelectorMatchesTemplate(selector, template tree.Tree, path string, faults *schema.Faults) {
	labels := template.Object("metadata", "labels")
	if !SelectorMatches(selector, labels) {
		faults.Invalid(path+".metadata.labels", labels, "`selector` does not match template `labels`")
	}
}

// SelectorMatches reports whether a label selector matches labels. A selector that is absent or not
// valid matches nothing; an empty one matches everything.
//
// A selector that is not valid has its own fault, and must not cause a second one by matching by chance.
func SelectorMatches(labelSelector, labels tree.Tree) bool {
	if labelSelector == nil {
		return false
	}
	s, ok := selector.FromLabelSelector(labelSelector)
	return ok && s.Matches(selector.LabelsOf(labels))
}
