package controllers

import (
	"context"
	"errors"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A systemPriorityClass is a class of Pods that the cluster itself needs.
type systemPriorityClass struct {
	name, description string
	value             int64
}

// systemPriorityClasses are all of them. Validation allows no
// others above the priorities of users, and nobody else to change their value.
var systemPriorityClasses = []systemPriorityClass{
	{"system-node-critical", "Used for system critical pods that must not be moved from their current node.", 2000001000},
	{"system-cluster-critical", "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.", 2000000000},
}

// body is the class without its metadata.
func (c systemPriorityClass) body() tree.Tree {
	return tree.Tree{"value": c.value, "description": c.description}
}

// priorityClassKind is the kind of PriorityClasses; nil if the group is disabled.
func priorityClassKind(kinds *catalog.Catalog) *schema.Kind {
	return kinds.ByGVK(meta.GroupVersionKind{Group: kinds.Naming().Group("scheduling"), Version: "v1", Kind: "PriorityClass"})
}

// EnsureSystemPriorityClasses creates the priority classes of the system that are missing.
func EnsureSystemPriorityClasses(ctx context.Context, store Store, kinds *catalog.Catalog) error {
	k := priorityClassKind(kinds)
	if k == nil {
		return nil
	}
	var faults []error
	for _, class := range systemPriorityClasses {
		faults = append(faults, systemObject{k, class.name, class.body()}.create(ctx, store))
	}
	return errors.Join(faults...)
}
