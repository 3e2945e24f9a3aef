package core

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func namespaceRules(n *meta.Naming) schema.Rules {
	label, finalizer := n.MetadataNameLabel(), n.NamespaceFinalizer()
	setLabel := func(obj tree.Tree) {
		if name := obj.Object("metadata").String("name"); name != "" {
			obj.EnsureObject("metadata", "labels")[label] = name
		}
	}
	return schema.Rules{
		Default: setLabel,
		Prepare: func(obj, old tree.Tree) {
			setLabel(obj)
			prepareNamespace(obj, old, finalizer)
		},
		Validate: func(obj tree.Tree, faults *schema.Faults) {
			for _, name := range obj.Object("spec").Strings("finalizers") {
				validateNamespaceFinalizer(name, finalizer, faults)
			}
		},
	}
}

// prepareNamespace makes a new namespace Active and adds its finalizer. Later writes of the main
// resource keep both: status and spec.finalizers are written through sub-resources.
func prepareNamespace(obj, old tree.Tree, finalizer string) {
	if old == nil {
		obj["status"] = tree.Tree{"phase": "Active"}
		spec := obj.EnsureObject("spec")
		if !slices.Contains(spec.Strings("finalizers"), finalizer) {
			spec["finalizers"] = append(slices.Clone(spec.List("finalizers")), finalizer)
		}
		return
	}
	obj.CopyField(old, "status")
	obj.EnsureObject("spec").CopyField(old.Object("spec"), "finalizers")
}

func validateNamespaceFinalizer(name, own string, faults *schema.Faults) {
	const path = "spec.finalizers"
	for _, msg := range rules.QualifiedName(name) {
		faults.Invalid(path, name, msg)
	}
	if !strings.Contains(name, "/") && name != own && name != "orphan" && name != "foregroundDeletion" {
		faults.Invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified")
	}
}

// writeFinalizers replaces spec.finalizers, and nothing else.
func writeFinalizers(obj, body tree.Tree, _ string, _ *schema.Faults) error {
	obj.EnsureObject("spec").CopyField(body.Object("spec"), "finalizers")
	return nil
}
