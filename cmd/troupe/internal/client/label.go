package client

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/kinds/tree"
)

type labelOptions struct {
	targetFlags
	printer.Options
	DryRun          dryRun
	Overwrite, List bool
	ResourceVersion string
	field           string // of metadata: labels or annotations
}

func splitChanges(args []string) (names []string, set map[string]string, order, remove []string, err error) {
	set = map[string]string{}
	for i, arg := range args {
		key, value, isSet := strings.Cut(arg, "=")
		switch {
		case isSet && key != "":
			if _, twice := set[key]; twice {
				return nil, nil, nil, nil, usageError(fmt.Sprintf("%s is set twice", key))
			}
			set[key], order = value, append(order, key)
		case strings.HasSuffix(arg, "-") && i > 0:
			remove = append(remove, strings.TrimSuffix(arg, "-"))
		case len(set)+len(remove) > 0:
			return nil, nil, nil, nil, usageError("all resources must be specified before changes: " + arg)
		default:
			names = append(names, arg)
		}
	}
	for _, key := range remove {
		if _, both := set[key]; both {
			return nil, nil, nil, nil, usageError(fmt.Sprintf("can not both modify and remove %s in the same command", key))
		}
	}
	return names, set, order, remove, nil
}

func (o *labelOptions) run(s *session, args []string) error {
	names, set, order, remove, err := splitChanges(args)
	switch {
	case err != nil:
		return err
	case len(set)+len(remove) == 0 && !o.List:
		return usageError("at least one change is required: KEY=VALUE sets, and KEY- removes")
	}
	return s.eachObject(&o.targetFlags, names, func(one object) error {
		if !o.List {
			return s.setOne(o, one, set, order, remove)
		}
		labels := one.tree.Object("metadata").Object(o.field)
		for _, name := range labels.SortedKeys() {
			s.printf("%s=%s\n", name, labels.String(name))
		}
		return nil
	})
}

func (s *session) setOne(o *labelOptions, one object, set map[string]string, order, remove []string) error {
	now := one.tree.Object("metadata").Object(o.field)
	var taken []string
	patch := tree.Tree{}
	for _, key := range order {
		value := set[key]
		if old, is := now[key]; is && old != value {
			taken = append(taken, fmt.Sprintf("'%s' already has a value (%s)", key, now.String(key)))
		} else if is {
			continue
		}
		patch[key] = value
	}
	if len(taken) > 0 && !o.Overwrite {
		if o.field == "annotations" {
			return errors.New("--overwrite is false but found the following declared annotation(s): " + strings.Join(taken, "; "))
		}
		return errors.New(strings.Join(taken, "; ") + ", and --overwrite is false")
	}
	for _, key := range remove {
		if !now.Has(key) {
			if o.field == "labels" {
				fmt.Fprintf(s.notes(o), "label %q not found.\n", key)
			}
			continue
		}
		patch[key] = nil
	}
	words := map[string]string{"labels": "labeled", "annotations": "annotated"}[o.field]
	if o.field == "labels" && len(set) == 0 && len(patch) > 0 {
		words = "unlabeled"
	}
	if len(patch) == 0 && o.ResourceVersion == "" {
		if o.field == "labels" {
			words = "not labeled"
		}
		return s.printAs(o.Options, one, words+o.DryRun.suffix())
	}
	m := tree.Tree{o.field: patch}
	if o.ResourceVersion != "" {
		m["resourceVersion"] = o.ResourceVersion
	}
	changed, err := s.mergePatch(one, tree.Tree{"metadata": m}, o.DryRun)
	if err != nil {
		return err
	}
	return s.printAs(o.Options, changed, words+o.DryRun.suffix())
}

func (s *session) notes(o *labelOptions) io.Writer {
	if o.Output != "" {
		return s.err
	}
	return s.out
}
