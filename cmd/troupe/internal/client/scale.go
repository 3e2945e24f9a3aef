package client

import (
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
	return s.eachObject(&o.targetFlags, args, func(one object) error {
		patch := tree.Tree{"spec": tree.Tree{"replicas": o.Replicas}}
		version := o.ResourceVersion
		if o.CurrentReplicas >= 0 {
			if now, _ := one.tree.Object("spec").Int("replicas"); now != o.CurrentReplicas {
				return usageError(fmt.Sprintf("Expected replicas to be %d, was %d", o.CurrentReplicas, now))
			}
			version = one.tree.Object("metadata").String("resourceVersion")
		}
		if version != "" {
			patch["metadata"] = tree.Tree{"resourceVersion": version}
		}
		_, err := s.sendPatch(one.path()+"/scale", rest.MergePatch, document.JSON(patch), fieldManager, o.DryRun)
		if rest.IsNotFound(err) {
			return fmt.Errorf("%s has no subresource scale", one)
		}
		if err != nil {
			return err
		}
		return s.printAs(o.Options, one, "scaled"+o.DryRun.suffix())
	})
}
