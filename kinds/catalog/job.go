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
		uid:  []string{n.Name("batch.platform.io/controller-uid"), "controller-uid"},
		name: []string{n.Name("batch.platform.io/job-name"), "job-name"},
	}
	return schema.Rules{
		Default: defaultJob, Prepare: labels.prepare,
		Validate: labels.validate, ValidateUpdate: validateJobUpdate,
	}
}

// defaultJob sets how many Pods there are, at once and in all: one each if neither is given.
func defaultJob(obj schema.Tree) {
	spec := rules.Grow(obj, "spec")
	if !rules.Has(spec, "parallelism") && !rules.Has(spec, "completions") {
		spec["completions"] = int64(1)
	}
	setAbsent(spec, "parallelism", int64(1))
	setAbsent(spec, "completionMode", "NonIndexed")
	setAbsent(spec, "suspend", false)
	setAbsent(spec, "manualSelector", false)
	if rules.Has(spec, "backoffLimitPerIndex") {
		setAbsent(spec, "backoffLimit", int64(math.MaxInt32))
	}
	setAbsent(spec, "backoffLimit", int64(6))
	if rules.Has(spec, "podFailurePolicy") {
		setAbsent(spec, "podReplacementPolicy", "Failed")
	}
	setAbsent(spec, "podReplacementPolicy", "TerminatingOrFailed")
	defaultTemplate(rules.Grow(spec, "template"))
}

// prepare gives a new Job a selector of its own, unless it brings one, and the labels of its
// Pods where it has none.
func (l jobLabels) prepare(obj, old schema.Tree) {
	spec := rules.Grow(obj, "spec")
	if old == nil {
		delete(obj, "status")
		if !rules.Flag(spec, "manualSelector") {
			l.generate(rules.Sub(obj, "metadata"), spec)
		}
	}
	labels := rules.Sub(spec, "template", "metadata", "labels")
	if metadata := rules.Grow(obj, "metadata"); len(labels) > 0 && len(rules.Sub(metadata, "labels")) == 0 {
		metadata["labels"] = rules.Clone(labels)
	}
}

// generate makes the selector from the uid of the Job, and labels its Pods with that. What
// is there already stays, for validation to judge.
func (l jobLabels) generate(metadata, spec schema.Tree) {
	labels := rules.Grow(spec, "template", "metadata", "labels")
	for _, key := range l.name {
		setAbsent(labels, key, rules.Text(metadata, "name"))
	}
	for _, key := range l.uid {
		setAbsent(labels, key, rules.Text(metadata, "uid"))
	}
	setAbsent(rules.Grow(spec, "selector", "matchLabels"), l.uid[0], rules.Text(metadata, "uid"))
}

func (l jobLabels) validate(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Sub(obj, "spec")
	selector := rules.Sub(spec, "selector")
	if selector != nil && !rules.Flag(spec, "manualSelector") {
		l.validateGenerated(rules.Sub(obj, "metadata"), spec, faults)
	}
	validateJobSpec(spec, "spec", faults)
	if selector == nil {
		faults.Required("spec.selector")
	} else {
		validateLabelSelector(selector, "spec.selector", faults)
	}
	validateSelected(selector, rules.Sub(spec, "template"), "spec.template", faults)
	validateJobHostnames(rules.Text(rules.Sub(obj, "metadata"), "name"), spec, faults)
}

// validateGenerated wants the labels and the selector that generate makes.
func (l jobLabels) validateGenerated(metadata, spec schema.Tree, faults *schema.Faults) {
	const path = "spec.template.metadata.labels"
	labels := rules.Sub(spec, "template", "metadata", "labels")
	want := schema.Tree{}
	check := func(key, value string) {
		want[key] = value
		switch has, ok := labels[key]; {
		case !ok:
			faults.Required(rules.Key(path, key), "must be '"+value+"'")
		case has != value:
			faults.Invalid(rules.Key(path, key), labels, "must be '"+value+"'")
		}
	}
	for i := len(l.uid) - 1; i >= 0; i-- {
		check(l.uid[i], rules.Text(metadata, "uid"))
		check(l.name[i], rules.Text(metadata, "name"))
	}
	if !selects(rules.Sub(spec, "selector"), want) {
		faults.Invalid("spec.selector", spec["selector"], "`selector` not auto-generated")
	}
}

// validateJobHostnames wants the name of the last Pod of an indexed Job to be a host name.
func validateJobHostnames(name string, spec schema.Tree, faults *schema.Faults) {
	n, _ := rules.Int(spec, "completions")
	if n <= 0 || rules.Text(spec, "completionMode") != indexed || name == "" {
		return
	}
	if host := fmt.Sprintf("%s-%d", name, n-1); len(rules.Label(host)) > 0 {
		faults.Invalid("metadata.name", name, "will not able to create pod with invalid DNS label: "+host)
	}
}

// validateJobUpdate keeps what the Pods of a Job are made from. Where they may run can change
// until the first has started, as long as the Job is suspended.
func validateJobUpdate(obj, old schema.Tree, faults *schema.Faults) {
	spec, was := rules.Sub(obj, "spec"), rules.Sub(old, "spec")
	validateCompletionsUpdate(spec, was, faults)
	keepField(spec, was, "spec", "selector", faults)
	before := was
	if rules.Flag(was, "suspend") && !rules.Has(rules.Sub(old, "status"), "startTime") {
		before = schema.Tree{"template": placedAs(rules.Sub(was, "template"), rules.Sub(spec, "template"))}
	}
	keepField(spec, before, "spec", "template", faults)
	for _, name := range []string{"completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"} {
		keepField(spec, was, "spec", name, faults)
	}
}

// validateCompletionsUpdate lets only indexed Jobs change their size, together with how many
// Pods run at once.
func validateCompletionsUpdate(spec, was schema.Tree, faults *schema.Faults) {
	const path = "spec.completions"
	if rules.Text(spec, "completionMode") != indexed {
		keepField(spec, was, "spec", "completions", faults)
		return
	}
	if n, ok := rules.Int(spec, "completions"); ok && !rules.Equal(n, was["completions"]) && !rules.Equal(n, spec["parallelism"]) {
		faults.Invalid(path, n, "can only be modified in tandem with spec.parallelism")
	}
}

// placedAs is a copy of a template with what another says about where Pods run, and with
// its labels and annotations.
func placedAs(template, other schema.Tree) schema.Tree {
	c, _ := rules.Clone(template).(schema.Tree)
	if c == nil {
		c = schema.Tree{}
	}
	for _, name := range []string{"labels", "annotations"} {
		rules.Carry(rules.Grow(c, "metadata"), rules.Sub(other, "metadata"), name)
	}
	spec := rules.Grow(c, "spec")
	for _, name := range []string{"nodeSelector", "tolerations", "schedulingGates"} {
		rules.Carry(spec, rules.Sub(other, "spec"), name)
	}
	rules.Carry(rules.Grow(spec, "affinity"), rules.Sub(other, "spec", "affinity"), "nodeAffinity")
	return c
}
