package client

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

func scale(f *connectionFlags) *cobra.Command {
	o := &targetFlags{}
	var print printer.Options
	var dry dryRun
	var replicas, current int64
	var version string
	c := &cobra.Command{
		Use:               "scale TYPE NAME… | TYPE/NAME… --replicas=N",
		Short:             "Set the number of replicas",
		Example:           "  troupe scale deployment web --replicas=3",
		ValidArgsFunction: f.completeObjects("patch"),
	}
	o.addFiles(c)
	o.addSelectors(c)
	addDryRun(c, &dry)
	addOutput(c, &print)
	c.Flags().BoolVar(&o.all, "all", false, "Select all objects of the resource types.")
	c.Flags().Int64Var(&replicas, "replicas", -1, "New number of replicas.")
	c.Flags().Int64Var(&current, "current-replicas", -1, "Required current number of replicas.")
	c.Flags().StringVar(&version, "resource-version", "", "Required resource version.")
	c.RunE = f.runWith(o.stdinUse, func(s *session, args []string) error {
		if replicas < 0 {
			return usageError("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0")
		}
		selections, _, err := s.selections(o, args)
		if err != nil {
			return err
		}
		objects, err := s.find(o, selections)
		faults := unjoin(err)
		for _, one := range objects {
			spec := tree.Tree{"replicas": replicas}
			patch := tree.Tree{"spec": spec}
			if current >= 0 {
				if now, _ := one.tree.Object("spec").Int("replicas"); now != current {
					faults = append(faults, usageError(fmt.Sprintf("Expected replicas to be %d, was %d", current, now)))
					continue
				}
				version = one.tree.Object("metadata").String("resourceVersion")
			}
			if version != "" {
				patch["metadata"] = tree.Tree{"resourceVersion": version}
			}
			if _, err := s.sendPatch(one.path()+"/scale", rest.MergePatch, document.JSON(patch), fieldManager, dry); err != nil {
				if rest.IsNotFound(err) {
					err = fmt.Errorf("%s has no subresource scale", one)
				}
				faults = append(faults, err)
				continue
			}
			if err := s.printAs(print, one, "scaled"+dry.suffix()); err != nil {
				return err
			}
		}
		return errors.Join(faults...)
	})
	return c
}
