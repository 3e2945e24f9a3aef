package catalog

import (
	"fmt"
	"math"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// jobLabels are the labels that tie Pods to their Job, as the profile spells them.
type jobLabels struct{ uid, name []string }

func jobRules(n *meta.Naming) schema.Rules {
	labels := jobLabels{
		uid:  []string{n.Translate("batch.platform.io/controller-uid"), "controller-uid"},
		name: []string{n.Translate("batch.platform.io/job-name"), "job-name"},
	}
	return schema.Rules{
		Default: defaultJob, Prepare: labels.prepare,
		Validate: labels.validate, ValidateUpdate: validateJobUpdate,
	}
}

// defaultJob sets how many Pods there are, at once and in all: one each if neither is given.
func defaultJob(obj schema.Tree) {
	spec := rules.EnsureNested(obj, "spec")
	if !rules.Has(spec, "parallelism") && !rules.Has(spec, "completions") {
		spec["completions"] = int64(1)
	}
	setIfAbsent(spec, "parallelism", int64(1))
	setIfAbsent(spec, "completionMode", "NonIndexed")
	setIfAbsent(spec, "suspend", false)
	setIfAbsent(spec, "manualSelector", false)
	if rules.Has(spec, "backoffLimitPerIndex") {
		setIfAbsent(spec, "backoffLimit", int64(math.MaxInt32))
	}
	setIfAbsent(spec, "backoffLimit", int64(6))
	if rules.Has(spec, "podFailurePolicy") {
		setIfAbsent(spec, "podReplacementPolicy", "Failed")
	}
	setIfAbsent(spec, "podReplacementPolicy", "TerminatingOrFailed")
	defaultTemplate(rules.EnsureNested(spec, "template"))
}

// prepare gives a new Job a selector of its own, unless it brings one, and the labels of its
// Pods where it has none.
func (l jobLabels) prepare(obj, old schema.Tree) {
	spec := rules.EnsureNested(obj, "spec")
	if old == nil {
		delete(obj, "status")
		if !rules.Bool(spec, "manualSelector") {
			l.generate(rules.Nested(obj, "metadata"), spec)
		}
	}
	labels := rules.Nested(spec, "template", "metadata", "labels")
	if metadata := rules.EnsureNested(obj, "metadata"); len(labels) > 0 && len(rules.Nested(metadata, "labels")) == 0 {
		metadata["labels"] = rules.Clone(labels)
	}
}

// generate makes the selector from the uid of the Job, and labels its Pods with that. What
// is there already stays, for validation to judge.
func (l jobLabels) generate(metadata, spec schema.Tree) {
	labels := rules.EnsureNested(spec, "template", "metadata", "labels")
	for _, key := range l.name {
		setIfAbsent(labels, key, rules.String(metadata, "name"))
	}
	for _, key := range l.uid {
		setIfAbsent(labels, key, rules.String(metadata, "uid"))
	}
	setIfAbsent(rules.EnsureNested(spec, "selector", "matchLabels"), l.uid[0], rules.String(metadata, "uid"))
}

func (l jobLabels) validate(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Nested(obj, "spec")
	selector := rules.Nested(spec, "selector")
	if selector != nil && !rules.Bool(spec, "manualSelector") {
		l.validateGenerated(rules.Nested(obj, "metadata"), spec, faults)
	}
	validateJobSpec(spec, "spec", faults)
	if selector == nil {
		faults.Required("spec.selector")
	} else {
		validateLabelSelector(selector, "spec.selector", faults)
	}
	validateSelectorMatchesTemplate(selector, rules.Nested(spec, "template"), "spec.template", faults)
	validateJobHostnames(rules.String(rules.Nested(obj, "metadata"), "name"), spec, faults)
}

// validateGenerated wants the labels and the selector that generate makes.
func (l jobLabels) validateGenerated(metadata, spec schema.Tree, faults *schema.Faults) {
	const path = "spec.template.metadata.labels"
	labels := rules.Nested(spec, "template", "metadata", "labels")
	want := schema.Tree{}
	check := func(key, value string) {
		want[key] = value
		switch has, ok := labels[key]; {
		case !ok:
			faults.Required(rules.KeyPath(path, key), "must be '"+value+"'")
		case has != value:
			faults.Invalid(rules.KeyPath(path, key), labels, "must be '"+value+"'")
		}
	}
	for i := len(l.uid) - 1; i >= 0; i-- {
		check(l.uid[i], rules.String(metadata, "uid"))
		check(l.name[i], rules.String(metadata, "name"))
	}
	if !selectorMatches(rules.Nested(spec, "selector"), want) {
		faults.Invalid("spec.selector", spec["selector"], "`selector` not auto-generated")
	}
}

// validateJobHostnames wants the name of the last Pod of an indexed Job to be a host name.
func validateJobHostnames(name string, spec schema.Tree, faults *schema.Faults) {
	n, _ := rules.Int(spec, "completions")
	if n <= 0 || rules.String(spec, "completionMode") != completionModeIndexed || name == "" {
		return
	}
	if host := fmt.Sprintf("%s-%d", name, n-1); len(rules.Label(host)) > 0 {
		faults.Invalid("metadata.name", name, "will not able to create pod with invalid DNS label: "+host)
	}
}

// validateJobUpdate keeps what the Pods of a Job are made from. Where they may run can change
// until the first has started, as long as the Job is suspended.
func validateJobUpdate(obj, old schema.Tree, faults *schema.Faults) {
	spec, was := rules.Nested(obj, "spec"), rules.Nested(old, "spec")
	validateCompletionsUpdate(spec, was, faults)
	validateImmutableField(spec, was, "spec", "selector", faults)
	before := was
	if rules.Bool(was, "suspend") && !rules.Has(rules.Nested(old, "status"), "startTime") {
		before = schema.Tree{"template": withSchedulingFieldsOf(rules.Nested(was, "template"), rules.Nested(spec, "template"))}
	}
	validateImmutableField(spec, before, "spec", "template", faults)
	for _, name := range []string{"completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"} {
		validateImmutableField(spec, was, "spec", name, faults)
	}
}

// validateCompletionsUpdate lets only indexed Jobs change their size, together with how many
// Pods run at once.
func validateCompletionsUpdate(spec, was schema.Tree, faults *schema.Faults) {
	const path = "spec.completions"
	if rules.String(spec, "completionMode") != completionModeIndexed {
		validateImmutableField(spec, was, "spec", "completions", faults)
		return
	}
	if n, ok := rules.Int(spec, "completions"); ok && !rules.SemanticEqual(n, was["completions"]) && !rules.SemanticEqual(n, spec["parallelism"]) {
		faults.Invalid(path, n, "can only be modified in tandem with spec.parallelism")
	}
}

// withSchedulingFieldsOf is a copy of a template with what another says about where Pods run, and with
// its labels and annotations.
func withSchedulingFieldsOf(template, other schema.Tree) schema.Tree {
	c, _ := rules.Clone(template).(schema.Tree)
	if c == nil {
		c = schema.Tree{}
	}
	for _, name := range []string{"labels", "annotations"} {
		rules.CopyField(rules.EnsureNested(c, "metadata"), rules.Nested(other, "metadata"), name)
	}
	spec := rules.EnsureNested(c, "spec")
	for _, name := range []string{"nodeSelector", "tolerations", "schedulingGates"} {
		rules.CopyField(spec, rules.Nested(other, "spec"), name)
	}
	rules.CopyField(rules.EnsureNested(spec, "affinity"), rules.Nested(other, "spec", "affinity"), "nodeAffinity")
	return c
}
