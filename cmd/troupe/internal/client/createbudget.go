package client

import (
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/kinds/tree"
)

func disruptionBudget(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	selector := f.String("selector", "", "Labels of the Pods: app=web.")
	least, most := f.String("min-available", "", "How many Pods stay, or how many in a hundred."), f.String("max-unavailable", "", "How many may be gone.")
	return func(*generated) (tree.Tree, error) {
		if *selector == "" {
			return nil, usageError("a selector must be specified")
		}
		if (*least == "") == (*most == "") {
			return nil, usageError("one of min-available or max-unavailable must be specified")
		}
		labels := tree.Tree{}
		for requirement := range strings.SplitSeq(*selector, ",") {
			name, value, ok := strings.Cut(requirement, "=")
			if !ok {
				return nil, usageError("the selector of a budget is made of key=value here; write others into a file")
			}
			labels[name] = strings.TrimPrefix(value, "=")
		}
		spec := tree.Tree{"selector": tree.Tree{"matchLabels": labels}}
		for field, text := range map[string]string{"minAvailable": *least, "maxUnavailable": *most} {
			if n, err := strconv.ParseInt(text, 10, 32); err == nil {
				spec[field] = n
			} else if text != "" {
				spec[field] = text
			}
		}
		return tree.Tree{"spec": spec}, nil
	}
}
