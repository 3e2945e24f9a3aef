package catalog

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func podTemplateRules() schema.Rules {
	return schema.Rules{
		Default: func(obj schema.Tree) { defaultTemplate(rules.EnsureNested(obj, "template")) },
		Validate: func(obj schema.Tree, faults *schema.Faults) {
			validateTemplate(rules.Nested(obj, "template"), "template", nil, faults)
		},
	}
}

// defaultTemplate fills in a form from which Pods are made. What is only known when a Pod
// is made, such as its tolerations, stays open.
func defaultTemplate(template schema.Tree) { defaultPodSpec(rules.EnsureNested(template, "spec")) }

// validateTemplate checks a form from which Pods are made, at path. claims are the names of
// volumes that each Pod will get besides those of the form.
func validateTemplate(template schema.Tree, path string, claims []string, faults *schema.Faults) {
	rules.ValidateLabels(rules.Nested(template, "metadata", "labels"), path+".labels", faults)
	rules.ValidateAnnotations(rules.Nested(template, "metadata", "annotations"), path+".annotations", faults)
	spec := rules.Nested(template, "spec")
	validatePodSpec(withClaimVolumes(spec, claims), path+".spec", faults)
	if len(rules.Items(spec, "ephemeralContainers")) > 0 {
		faults.Forbidden(path+".spec.ephemeralContainers", "ephemeral containers not allowed in pod template")
	}
}

// withClaimVolumes is a spec with further volumes behind its own, so that containers may mount
// them. A volume of that name in the spec is the claim's.
func withClaimVolumes(spec schema.Tree, claims []string) schema.Tree {
	if len(claims) == 0 {
		return spec
	}
	own := map[string]bool{}
	for _, v := range rules.Trees(spec, "volumes") {
		own[rules.String(v, "name")] = true
	}
	volumes := slices.Clone(rules.Items(spec, "volumes"))
	for _, name := range claims {
		if !own[name] {
			own[name] = true
			volumes = append(volumes, schema.Tree{"name": name, "emptyDir": schema.Tree{}})
		}
	}
	out := schema.Tree{}
	for key, value := range spec {
		out[key] = value
	}
	out["volumes"] = volumes
	return out
}

// validateLongRunningTemplate wants what a workload that goes on needs of its Pods: that they restart,
// and have no deadline. kind is the workload, as messages call it.
func validateLongRunningTemplate(template schema.Tree, path, kind string, faults *schema.Faults) {
	spec := rules.Nested(template, "spec")
	if policy := rules.String(spec, "restartPolicy"); policy != "" && policy != "Always" {
		faults.NotSupported(path+".spec.restartPolicy", policy, []string{"Always"})
	}
	if rules.Has(spec, "activeDeadlineSeconds") {
		faults.Forbidden(path+".spec.activeDeadlineSeconds", "activeDeadlineSeconds in "+kind+" is not Supported")
	}
}

// validateSelectorMatchesTemplate wants a selector to match the labels of the template at path.
func validateSelectorMatchesTemplate(selector, template schema.Tree, path string, faults *schema.Faults) {
	labels := rules.Nested(template, "metadata", "labels")
	if !selectorMatches(selector, labels) {
		faults.Invalid(path+".metadata.labels", labels, "`selector` does not match template `labels`")
	}
}

// selectorMatches tells whether a label selector matches labels. No selector matches nothing, and so
// does one that is not valid; one without content matches everything.
func selectorMatches(selector, labels schema.Tree) bool {
	if selector == nil {
		return false
	}
	for key, value := range rules.Nested(selector, "matchLabels") {
		if has, ok := labels[key]; !ok || has != value {
			return false
		}
	}
	for _, e := range rules.Trees(selector, "matchExpressions") {
		if !expressionMatches(e, labels) {
			return false
		}
	}
	return true
}

// expressionMatches tells whether labels meet one expression of a selector.
func expressionMatches(e, labels schema.Tree) bool {
	value, has := labels[rules.String(e, "key")].(string)
	switch rules.String(e, "operator") {
	case "In":
		return has && slices.Contains(rules.Strings(e, "values"), value)
	case "NotIn":
		return !has || !slices.Contains(rules.Strings(e, "values"), value)
	case "Exists":
		return has
	case "DoesNotExist":
		return !has
	}
	return false
}
