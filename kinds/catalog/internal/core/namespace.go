package core

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type namespaceStrategy struct {
	schema.DefaultStrategy
	label, finalizer string
}

// Default sets the label that holds the namespace's own name, which selectors of network policies
// and webhooks rely on: no namespace may pass for another by a label. Prepare sets it too, because
// a new object may get its name only after the defaults, and a client may have changed the label.
func (s namespaceStrategy) Default(obj tree.Tree) {
	if name := obj.Object("metadata").String("name"); name != "" {
		obj.EnsureObject("metadata", "labels")[s.label] = name
	}
}

func (s namespaceStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	for _, name := range obj.Object("spec").Strings("finalizers") {
		validateNamespaceFinalizer(name, s.finalizer, faults)
	}
}

func (namespaceStrategy) BeginDelete(obj tree.Tree, _ string) {
	obj["status"] = tree.Tree{"phase": "Terminating"}
}

func (namespaceStrategy) Finalized(obj tree.Tree) bool {
	return len(obj.Object("spec").List("finalizers")) == 0
}

// Prepare makes a new namespace Active and adds its finalizer. Later writes of the main resource
// keep both: status and spec.finalizers are written through sub-resources. The finalizer holds the
// namespace until the controller has emptied it. Other finalizers that the client names are kept,
// behind which other controllers wait in the same way.
func (s namespaceStrategy) Prepare(obj, old tree.Tree) {
	s.Default(obj)
	if old == nil {
		obj["status"] = tree.Tree{"phase": "Active"}
		spec := obj.EnsureObject("spec")
		if !slices.Contains(spec.Strings("finalizers"), s.finalizer) {
			spec["finalizers"] = append(slices.Clone(spec.List("finalizers")), s.finalizer)
		}
		return
	}
	obj.CopyField(old, "status")
	obj.EnsureObject("spec").CopyField(old.Object("spec"), "finalizers")
}

// validateNamespaceFinalizer accepts the profile's own finalizer and the two of the garbage collector
// without a domain. A finalizer of any other name without one could never be attributed to its owner, and
// the namespace would hang.
func validateNamespaceFinalizer(name, own string, faults *schema.Faults) {
	const path = "spec.finalizers"
	for _, msg := range rules.QualifiedName(name) {
		faults.Invalid(path, name, msg)
	}
	if !strings.Contains(name, "/") && name != own && name != meta.OrphanFinalizer && name != meta.ForegroundFinalizer {
		faults.Invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified")
	}
}

// writeNamespaceStatus replaces the status, whose phase says whether the namespace is being deleted.
func writeNamespaceStatus(obj, body tree.Tree, _ string, faults *schema.Faults) error {
	status := body.EnsureObject("status")
	field.SetIfEmpty(status, "phase", "Active")
	phase, deleted := status.String("phase"), obj.Object("metadata").Has("deletionTimestamp")
	switch {
	case !deleted && phase != "Active":
		faults.Invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")
	case deleted && phase != "Terminating":
		faults.Invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")
	}
	obj["status"] = status
	return nil
}

// writeFinalizers replaces spec.finalizers, and nothing else.
func writeFinalizers(obj, body tree.Tree, _ string, _ *schema.Faults) error {
	obj.EnsureObject("spec").CopyField(body.Object("spec"), "finalizers")
	return nil
}
