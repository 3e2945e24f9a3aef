package client

import (
	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/kinds/tree"
)

func priorityClass(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	value, fallback := f.Int64("value", 0, "The priority."), f.Bool("global-default", false, "For Pods that name no class.")
	description, preemption := f.String("description", "", "What it is for."), f.String("preemption-policy", "PreemptLowerPriority", "Never, or PreemptLowerPriority.")
	return func(*generated) (tree.Tree, error) {
		return tree.Tree{"value": *value, "globalDefault": *fallback, "description": *description, "preemptionPolicy": *preemption}, nil
	}
}
