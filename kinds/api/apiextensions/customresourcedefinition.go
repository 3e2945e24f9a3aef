package apiextensions

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// definitionStrategy is the strategy of CRDs. As in kube-apiserver, CRD finalizers need no domain
// prefix.
type definitionStrategy struct {
	schema.DefaultStrategy
	formats    crd.Formats
	lostFields lostFieldFinder
	finalizer  string
}

func (*definitionStrategy) AllowsUnqualifiedFinalizers() bool { return true }

// BeginDelete adds the condition Terminating, with now as its transition time, and a finalizer that
// keeps the CRD until its objects are deleted.
func (s *definitionStrategy) BeginDelete(obj tree.Tree, now string) {
	metadata := obj.EnsureObject("metadata")
	if held := metadata.List("finalizers"); !slices.Contains(held, any(s.finalizer)) {
		metadata["finalizers"] = append(slices.Clone(held), s.finalizer)
	}
	status := obj.EnsureObject("status")
	kept := slices.DeleteFunc(slices.Clone(status.List("conditions")), func(c any) bool {
		object, _ := c.(tree.Tree)
		return object["type"] == "Terminating"
	})
	status["conditions"] = append(kept, tree.Tree{
		"type": "Terminating", "status": "True", "lastTransitionTime": now, "reason": "InstanceDeletionPending",
		"message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	})
}

// Default sets the conversion strategy None, derives missing names from the kind, and initializes
// storedVersions of an existing status. plural has no default, because English plurals are
// irregular.
func (*definitionStrategy) Default(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	names := spec.EnsureObject("names")
	kind := names.String("kind")
	if names.String("singular") == "" && kind != "" {
		names["singular"] = strings.ToLower(kind)
	}
	if names.String("listKind") == "" && kind != "" {
		names["listKind"] = kind + "List"
	}
	if spec["conversion"] == nil {
		spec["conversion"] = tree.Tree{"strategy": "None"}
	}
	if status, ok := obj["status"].(tree.Tree); ok && len(status.List("storedVersions")) == 0 {
		addStoredVersions(status, spec)
	}
}

func addStoredVersions(status, spec tree.Tree) {
	for _, v := range spec.Objects("versions") {
		if name := v.String("name"); v.Bool("storage") && !slices.Contains(status.Strings("storedVersions"), name) {
			status["storedVersions"] = append(slices.Clone(status.List("storedVersions")), name)
		}
	}
}

// Prepare keeps the status, which only the status subresource may change, and adds the storage
// version to storedVersions. The spec must list every version in storedVersions. After a migration,
// clients remove old versions through the status subresource.
func (*definitionStrategy) Prepare(obj, old tree.Tree) {
	// Otherwise a client could mark its names as accepted before the server has checked them for
	// conflicts.
	if old == nil {
		obj["status"] = tree.Tree{}
	} else {
		obj["status"] = tree.Clone(old.Object("status"))
	}
	addStoredVersions(obj.EnsureObject("status"), obj.Object("spec"))
}
