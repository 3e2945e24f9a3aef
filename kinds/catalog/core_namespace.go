package catalog

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func namespaceRules(n *meta.Naming) schema.Rules {
	label, finalizer := n.MetadataNameLabel(), n.NamespaceFinalizer()
	setLabel := func(obj schema.Tree) {
		if name := rules.String(rules.Nested(obj, "metadata"), "name"); name != "" {
			rules.EnsureNested(obj, "metadata", "labels")[label] = name
		}
	}
	return schema.Rules{
		Default: setLabel,
		Prepare: func(obj, old schema.Tree) {
			setLabel(obj)
			prepareNamespace(obj, old, finalizer)
		},
		Validate: func(obj schema.Tree, faults *schema.Faults) {
			for _, name := range rules.Strings(rules.Nested(obj, "spec"), "finalizers") {
				validateNamespaceFinalizer(name, finalizer, faults)
			}
		},
	}
}

// prepareNamespace starts a namespace as Active with its finalizer. Later writes of
// the main resource keep both: status and spec.finalizers have sub-resources.
func prepareNamespace(obj, old schema.Tree, finalizer string) {
	if old == nil {
		obj["status"] = schema.Tree{"phase": "Active"}
		spec := rules.EnsureNested(obj, "spec")
		if !slices.Contains(rules.Strings(spec, "finalizers"), finalizer) {
			spec["finalizers"] = append(slices.Clone(rules.Items(spec, "finalizers")), finalizer)
		}
		return
	}
	rules.CopyField(obj, old, "status")
	rules.CopyField(rules.EnsureNested(obj, "spec"), rules.Nested(old, "spec"), "finalizers")
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
