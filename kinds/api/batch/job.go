package batch

import (
	"math"

	"github.com/troupe-api/troupe/kinds/api/core/pod"
	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// jobLabels contains the names of the Pod labels that identify the Job.
type jobLabels struct{ uid, name []string }

type jobStrategy struct {
	schema.DefaultStrategy
	labels jobLabels
	spec   *schema.Declaration
}

// newJobLabels returns each label with and without a domain prefix. Older clients read the
// unprefixed labels, so both must have the same value.
func newJobLabels(n *meta.Naming) jobLabels {
	return jobLabels{
		uid:  []string{n.Translate("batch.platform.io/controller-uid"), "controller-uid"},
		name: []string{n.Translate("batch.platform.io/job-name"), "job-name"},
	}
}

// DefaultPropagation returns Orphan and a warning, because most clients expect the deletion of a
// Job's Pods.
func (jobStrategy) DefaultPropagation() (policy, warning string) {
	return "Orphan", "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or " +
		"set propagationPolicy=Orphan to suppress this warning"
}

// Default sets a Job's defaults. If completions and parallelism are both absent, both become 1.
// If only parallelism is set, the Job is a work queue and completions remains absent. If
// backoffLimitPerIndex is set, backoffLimit defaults to the maximum.
func (jobStrategy) Default(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	if !spec.Has("parallelism") && !spec.Has("completions") {
		spec["completions"] = int64(1)
	}
	field.SetIfAbsent(spec, "parallelism", int64(1))
	field.SetIfAbsent(spec, "completionMode", "NonIndexed")
	field.SetIfAbsent(spec, "suspend", false)
	field.SetIfAbsent(spec, "manualSelector", false)
	if spec.Has("backoffLimitPerIndex") {
		field.SetIfAbsent(spec, "backoffLimit", int64(math.MaxInt32))
	}
	field.SetIfAbsent(spec, "backoffLimit", int64(6))
	if spec.Has("podFailurePolicy") {
		field.SetIfAbsent(spec, "podReplacementPolicy", "Failed")
	}
	field.SetIfAbsent(spec, "podReplacementPolicy", "TerminatingOrFailed")
	pod.DefaultTemplate(spec.EnsureObject("template"))
	labels := spec.Object("template", "metadata", "labels")
	if metadata := obj.EnsureObject("metadata"); len(labels) > 0 && len(metadata.Object("labels")) == 0 {
		metadata["labels"] = labels // shared, so that labels which Prepare generates are added to both
	}
}

// Prepare generates the selector and the Pod labels of a new Job unless manualSelector is set.
//
// Both contain the Job's UID, so that successive Jobs with the same name do not count each
// other's Pods. A Job without labels inherits its template's labels.
func (s jobStrategy) Prepare(obj, old tree.Tree) {
	spec := obj.EnsureObject("spec")
	if old == nil {
		delete(obj, "status")
		if !spec.Bool("manualSelector") {
			s.labels.generate(obj.Object("metadata"), spec)
		}
	}
	labels := spec.Object("template", "metadata", "labels")
	if metadata := obj.EnsureObject("metadata"); len(labels) > 0 && (len(metadata.Object("labels")) == 0 || tree.SameRef(metadata["labels"], labels)) {
		metadata["labels"] = tree.Clone(labels)
	}
}

// generate keeps existing values. validateGenerated checks them.
func (l jobLabels) generate(metadata, spec tree.Tree) {
	labels := spec.EnsureObject("template", "metadata", "labels")
	for _, key := range l.name {
		field.SetIfAbsent(labels, key, metadata.String("name"))
	}
	for _, key := range l.uid {
		field.SetIfAbsent(labels, key, metadata.String("uid"))
	}
	field.SetIfAbsent(spec.EnsureObject("selector", "matchLabels"), l.uid[0], metadata.String("uid"))
}

// validateGenerated checks the generated labels and selector. They are wrong in a manifest copied
// from another Job.
func (l jobLabels) validateGenerated(obj tree.Tree, _ string, faults *schema.Faults) {
	metadata, spec := obj.Object("metadata"), obj.Object("spec")
	const path = "spec.template.metadata.labels"
	labels := spec.Object("template", "metadata", "labels")
	want := tree.Tree{}
	check := func(key, value string) {
		want[key] = value
		switch has, ok := labels[key]; {
		case !ok:
			faults.Required(tree.KeyPath(path, key), "must be '"+value+"'")
		case has != value:
			faults.Invalid(tree.KeyPath(path, key), labels, "must be '"+value+"'")
		}
	}
	for i := len(l.uid) - 1; i >= 0; i-- {
		check(l.uid[i], metadata.String("uid"))
		check(l.name[i], metadata.String("name"))
	}
	if !rules.SelectorMatches(spec.Object("selector"), want) {
		faults.Invalid("spec.selector", spec["selector"], "`selector` not auto-generated")
	}
}

// ValidateUpdate makes the selector and the template immutable. While the Job is suspended and has
// no Pods, the template's metadata, scheduling fields and resources may change, so that a queue
// controller can decide where the Pods run.
func (s jobStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	spec, was, declared := obj.Object("spec"), old.Object("spec"), s.spec.Message()
	validateCompletionsUpdate(declared, spec, was, faults)
	field.Immutable(declared, spec, was, "spec", "selector", faults)
	m, now, before, path, name := declared, spec, was, "spec", "template"
	if isTemplateMutable(old) {
		m, now, path, name = m.Field(name).Message, spec.Object(name), "spec.template", "spec"
		before = tree.Tree{name: withMutableFieldsOf(was.Object("template", name), now.Object(name))}
	}
	field.Immutable(m, now, before, path, name, faults)
	for _, name := range []string{"completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"} {
		field.Immutable(declared, spec, was, "spec", name, faults)
	}
}

// validateCompletionsUpdate makes completions immutable, except for indexed Jobs whose completions
// and parallelism are equal. Such a Job runs all indexes concurrently, so no index is lost or
// counted twice.
func validateCompletionsUpdate(m *schema.Message, spec, was tree.Tree, faults *schema.Faults) {
	const path = "spec.completions"
	if spec.String("completionMode") != "Indexed" {
		field.Immutable(m, spec, was, "spec", "completions", faults)
		return
	}
	if n, ok := spec.Int("completions"); ok && !tree.SemanticEqual(n, was["completions"]) && !tree.SemanticEqual(n, spec["parallelism"]) {
		faults.Invalid(path, n, "can only be modified in tandem with spec.parallelism")
	}
}

func isTemplateMutable(job tree.Tree) bool {
	status := job.Object("status")
	active, _ := status.Int("active")
	return job.Object("spec").Bool("suspend") && active == 0 && (!status.Has("startTime") || tree.IsConditionTrue(status, "Suspended"))
}

func withMutableFieldsOf(spec, other tree.Tree) tree.Tree {
	c := tree.Clone(spec).(tree.Tree)
	for _, name := range []string{"nodeSelector", "tolerations", "schedulingGates"} {
		c.CopyField(other, name)
	}
	affinity := c.EnsureObject("affinity")
	affinity.CopyField(other.Object("affinity"), "nodeAffinity")
	if len(affinity) == 0 && !other.Has("affinity") {
		delete(c, "affinity")
	}
	for _, list := range []string{"containers", "initContainers"} {
		now := other.Objects(list)
		for i, container := range c.Objects(list) {
			if i < len(now) && now[i].String("name") == container.String("name") {
				container.CopyField(now[i], "resources")
			}
		}
	}
	return c
}
