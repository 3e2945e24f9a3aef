package core

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type namespaceStrategy struct {
	schema.DefaultStrategy
	label, finalizer string
}

// Default sets the namespace name label, which network policies and webhooks use. Prepare sets it
// again, because the name may be generated after defaulting, and clients may change the label.
func (s namespaceStrategy) Default(obj tree.Tree) {
	if name := obj.Name(); name != "" {
		obj.EnsureObject("metadata", "labels")[s.label] = name
	}
}

func (namespaceStrategy) BeginDelete(obj tree.Tree, _ string) {
	obj["status"] = tree.Tree{"phase": "Terminating"}
}

func (namespaceStrategy) Finalized(obj tree.Tree) bool {
	return len(obj.Object("spec").List("finalizers")) == 0
}

// Prepare sets the phase of a new namespace to Active and adds the server's finalizer. Other writes
// of the main resource keep status and spec.finalizers, which only subresources may change.
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

// writeNamespaceStatus replaces the status. The phase must be Terminating if and only if the
// namespace has a deletion timestamp.
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

func writeFinalizers(obj, body tree.Tree, _ string, _ *schema.Faults) error {
	obj.EnsureObject("spec").CopyField(body.Object("spec"), "finalizers")
	return nil
}
