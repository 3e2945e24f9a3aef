package client

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

func set(f *connectionFlags) *cobra.Command {
	c := &cobra.Command{Use: "set", Short: "Set images, variables and resources of containers", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(setImage(f), setEnv(f), setResources(f))
	return c
}

// A containerChange gives what is to be merged into a container; nil for nothing.
type containerChange func(container tree.Tree) tree.Tree

// setCommand is a command that changes containers of Pods and of templates of Pods.
func setCommand(f *connectionFlags, c *cobra.Command, words string, parse func(args []string) (names []string, change containerChange, err error)) *cobra.Command {
	o := &targetFlags{}
	var dry dryRun
	var print printer.Options
	o.addFiles(c)
	addDryRun(c, &dry)
	addOutput(c, &print)
	c.Flags().BoolVar(&o.all, "all", false, "All objects of the types.")
	c.Flags().StringVarP(&o.selector, "selector", "l", "", "Label selector.")
	c.ValidArgsFunction = f.completeObjects("patch")
	c.RunE = f.runWith(o.stdinUse, func(s *session, args []string) error {
		names, change, err := parse(args)
		if err != nil {
			return err
		}
		selections, _, err := s.selections(o, names)
		if err != nil {
			return err
		}
		objects, err := s.find(o, selections)
		faults := unjoin(err)
		for _, one := range objects {
			patch, changed, err := containerPatch(one, change)
			if err != nil {
				faults = append(faults, err)
				continue
			}
			if !changed {
				continue
			}
			after, err := s.sendPatch(one.path(), rest.StrategicPatch, document.JSON(patch), fieldManager, dry)
			if err != nil {
				faults = append(faults, err)
				continue
			}
			after.resource = one.resource
			if err := s.printAs(print, after, words+dry.suffix()); err != nil {
				return err
			}
		}
		return errors.Join(faults...)
	})
	return c
}

// containerPatch is a strategic merge patch with what a change makes of the containers of an object.
func containerPatch(one object, change containerChange) (patch tree.Tree, changed bool, err error) {
	var path []string
	for _, candidate := range [][]string{{"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"}, {"spec"}} {
		if one.tree.Object(candidate...).Has("containers") {
			path = candidate
			break
		}
	}
	if path == nil {
		return nil, false, fmt.Errorf("%s has no containers", one)
	}
	patch = tree.Tree{}
	for _, field := range []string{"initContainers", "containers"} {
		var list []any
		for _, container := range one.tree.Object(path...).Objects(field) {
			if c := change(container); c != nil {
				c["name"] = container.String("name")
				list = append(list, c)
			}
		}
		if list != nil {
			patch.EnsureObject(path...)[field] = list
			changed = true
		}
	}
	return patch, changed, nil
}

// splitAssignments cuts arguments into names of objects, and what is assigned.
func splitAssignments(args []string) (names, assigned []string) {
	for _, arg := range args {
		if strings.Contains(arg, "=") || strings.HasSuffix(arg, "-") && len(names) > 0 {
			assigned = append(assigned, arg)
		} else {
			names = append(names, arg)
		}
	}
	return names, assigned
}

func setImage(f *connectionFlags) *cobra.Command {
	c := &cobra.Command{Use: "image TYPE NAME | TYPE/NAME CONTAINER=IMAGE…", Short: "Set images of containers", Example: "  troupe set image deployment/web web=example.com/web:2"}
	return setCommand(f, c, "image updated", func(args []string) ([]string, containerChange, error) {
		names, assigned := splitAssignments(args)
		if len(assigned) == 0 {
			return nil, nil, usageError("at least one image update is required: CONTAINER=IMAGE")
		}
		images := map[string]string{}
		for _, a := range assigned {
			container, image, _ := strings.Cut(a, "=")
			images[container] = image
		}
		return names, func(container tree.Tree) tree.Tree {
			image, ok := images[container.String("name")]
			if !ok {
				image, ok = images["*"]
			}
			if !ok || image == container.String("image") {
				return nil
			}
			return tree.Tree{"image": image}
		}, nil
	})
}

func setEnv(f *connectionFlags) *cobra.Command {
	container := ""
	c := &cobra.Command{Use: "env TYPE NAME | TYPE/NAME NAME=VALUE… NAME-…", Short: "Set and remove variables of containers"}
	c.Flags().StringVarP(&container, "containers", "c", "*", "Container; * is all.")
	return setCommand(f, c, "env updated", func(args []string) ([]string, containerChange, error) {
		names, assigned := splitAssignments(args)
		if len(assigned) == 0 {
			return nil, nil, usageError("at least one environment variable must be provided: NAME=VALUE, or NAME- to remove one")
		}
		return names, func(c tree.Tree) tree.Tree {
			if container != "*" && container != c.String("name") {
				return nil
			}
			var env []any
			for _, a := range assigned {
				if name, value, ok := strings.Cut(a, "="); ok {
					env = append(env, tree.Tree{"name": name, "value": value})
				} else {
					env = append(env, tree.Tree{"name": strings.TrimSuffix(a, "-"), "$patch": "delete"})
				}
			}
			return tree.Tree{"env": env}
		}, nil
	})
}

func setResources(f *connectionFlags) *cobra.Command {
	container := ""
	var limits, requests map[string]string
	c := &cobra.Command{Use: "resources TYPE NAME | TYPE/NAME", Short: "Set limits and requests of containers", Example: "  troupe set resources deployment web -c web --limits=cpu=1,memory=1Gi"}
	c.Flags().StringVarP(&container, "containers", "c", "*", "Container; * is all.")
	c.Flags().StringToStringVar(&limits, "limits", nil, "Limits: cpu=1,memory=1Gi.")
	c.Flags().StringToStringVar(&requests, "requests", nil, "Requests: cpu=100m.")
	return setCommand(f, c, "resource requirements updated", func(args []string) ([]string, containerChange, error) {
		if len(limits)+len(requests) == 0 {
			return nil, nil, usageError("you must specify an update to requests or limits (in the form of --requests/--limits)")
		}
		return args, func(c tree.Tree) tree.Tree {
			if container != "*" && container != c.String("name") {
				return nil
			}
			resources := tree.Tree{}
			for field, amounts := range map[string]map[string]string{"limits": limits, "requests": requests} {
				for _, name := range slices.Sorted(maps.Keys(amounts)) {
					resources.EnsureObject(field)[name] = amounts[name]
				}
			}
			return tree.Tree{"resources": resources}
		}, nil
	})
}
