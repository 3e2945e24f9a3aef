package client

import (
	"errors"
	"fmt"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

type scaleOptions struct {
	targetFlags
	printer.Options
	DryRun                    dryRun
	Replicas, CurrentReplicas int64
	ResourceVersion           string
}

func (o *scaleOptions) run(s *session, args []string) error {
	if o.Replicas < 0 {
		return usageError("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0")
	}
	selections, _, err := s.selections(&o.targetFlags, args)
	if err != nil {
		return err
	}
	objects, err := s.find(&o.targetFlags, selections)
	faults := unjoin(err)
	for _, one := range objects {
		spec := tree.Tree{"replicas": o.Replicas}
		patch := tree.Tree{"spec": spec}
		if o.CurrentReplicas >= 0 {
			if now, _ := one.tree.Object("spec").Int("replicas"); now != o.CurrentReplicas {
				faults = append(faults, usageError(fmt.Sprintf("Expected replicas to be %d, was %d", o.CurrentReplicas, now)))
				continue
			}
			o.ResourceVersion = one.tree.Object("metadata").String("resourceVersion")
		}
		if o.ResourceVersion != "" {
			patch["metadata"] = tree.Tree{"resourceVersion": o.ResourceVersion}
		}
		if _, err := s.sendPatch(one.path()+"/scale", rest.MergePatch, document.JSON(patch), fieldManager, o.DryRun); err != nil {
			if rest.IsNotFound(err) {
				err = fmt.Errorf("%s has no subresource scale", one)
			}
			faults = append(faults, err)
			continue
		}
		if err := s.printAs(o.Options, one, "scaled"+o.DryRun.suffix()); err != nil {
			return err
		}
	}
	return errors.Join(faults...)
}
