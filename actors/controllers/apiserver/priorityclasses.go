package apiserver

import (
	"context"
	"errors"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/tree"
)

type systemPriorityClass struct {
	name, description string
	value             int64
}

// systemPriorityClasses are the only classes that validation allows above the maximum user
// priority. Their values cannot be changed.
var systemPriorityClasses = []systemPriorityClass{
	{"system-node-critical", "Used for system critical pods that must not be moved from their current node.", 2000001000},
	{"system-cluster-critical", "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.", 2000000000},
}

func (c systemPriorityClass) body() tree.Tree {
	return tree.Tree{"value": c.value, "description": c.description}
}

// EnsureSystemPriorityClasses creates the system priority classes that do not exist.
func EnsureSystemPriorityClasses(ctx context.Context, env *reconcile.Env) error {
	var faults []error
	for _, o := range systemPriorities(env) {
		faults = append(faults, o.create(ctx))
	}
	return errors.Join(faults...)
}

func systemPriorities(env *reconcile.Env) (all []systemObject) {
	classes := env.Client("scheduling.platform.io", "v1", "PriorityClass")
	if classes.Kind == nil {
		return nil
	}
	for _, c := range systemPriorityClasses {
		all = append(all, systemObject{classes, c.name, c.body()})
	}
	return all
}
