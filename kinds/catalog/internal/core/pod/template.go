package pod

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// podTemplateRules has no Prepare: a PodTemplate has no status, and no controller of its own.
func podTemplateRules() schema.Rules {
	return schema.Rules{
		Default: func(obj tree.Tree) { DefaultTemplate(obj.EnsureObject("template")) },
		Validate: func(obj tree.Tree, faults *schema.Faults) {
			ValidateTemplate(obj.Object("template"), "template", nil, faults)
		},
	}
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

// WithTemplateProfiles adds the rules of annotations and of huge pages to those of a kind whose Pod template is at path. A
// template that stays as it is stays valid.
func (w *Warnings) WithTemplateProfiles(r schema.Rules, path ...string) schema.Rules {
	served, at := r.ValidateServed, strings.Join(path, ".")
	r.ValidateServed = func(obj, old tree.Tree, faults *schema.Faults) {
		if served != nil {
			served(obj, old, faults)
		}
		template := obj.Object(path...)
		validatePages(template.Object("spec"), old.Object(path...).Object("spec"), at+".spec", faults)
		if old == nil || !tree.SemanticEqual(template, old.Object(path...)) {
			w.validateAnnotations(template, at+".", at+".annotations", faults)
		}
	}
	return r
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
