package client

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

type undeleteOptions struct {
	createOptions
	DropOwners bool
}

func (o *undeleteOptions) run(s *session, args []string) error {
	targets, err := s.named(args)
	if err != nil {
		return err
	}
	if o.DryRun != dryRunNone && o.Output == "" {
		o.Output = "yaml"
		s.notef("dry run: nothing is restored without --dry-run=none\n")
	}
	for _, one := range targets {
		if err := s.undelete(o, one); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) undelete(o *undeleteOptions, one target) error {
	revisions, err := s.revisions(one, 1)
	if err != nil {
		return err
	}
	last := revisions[0]
	if last.event != "DELETED" {
		return fmt.Errorf("%s exists: only deleted objects are restored (see troupe history %[1]s --diff)", one)
	}
	t, status := last.object, last.object.Object("status")
	metadata := without(t.Object("metadata"), "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "managedFields", "selfLink")
	t["metadata"] = metadata
	if err := s.checkOwners(o, one, metadata); err != nil {
		return err
	}
	restored, err := s.post(&o.createOptions, one.resource, one.namespace, t)
	if err != nil {
		return err
	}
	if o.DryRun == dryRunNone && len(status) > 0 && slices.Contains(one.resource.Subresources, "status") {
		patch := document.JSON(tree.Tree{"status": status})
		changed, err := s.sendPatch(one.path()+"/status", rest.MergePatch, patch, o.FieldManager, dryRunNone)
		if err != nil {
			return fmt.Errorf("%s is restored, but without its status: %w", one, err)
		}
		restored = changed.tree
	}
	return s.printAs(o.Options, object{one.resource, restored, ""}, "restored"+o.DryRun.suffix())
}

// checkOwners returns an error if an owner no longer exists, because the object would be garbage
// collected. With --drop-owners, it instead removes the reference.
func (s *session) checkOwners(o *undeleteOptions, one target, metadata tree.Tree) error {
	c, err := s.served()
	if err != nil {
		return err
	}
	kept, gone := []any{}, []string{}
	for _, owner := range metadata.Objects("ownerReferences") {
		var found tree.Tree
		if r := c.ForKind(owner.String("apiVersion"), owner.String("kind")); r != nil {
			found, err = s.Get(s.ctx, r.Path(one.namespace, owner.String("name")), nil)
			if err != nil && !rest.IsNotFound(err) {
				return err
			}
		}
		if found.Object("metadata").String("uid") == owner.String("uid") {
			kept = append(kept, owner)
			continue
		}
		gone = append(gone, fmt.Sprintf("%s %q (uid %s)", owner.String("kind"), owner.String("name"), owner.String("uid")))
	}
	if len(gone) > 0 && !o.DropOwners {
		return fmt.Errorf("%s belongs to %s, which no longer exists: add --drop-owners to restore it without", one, strings.Join(gone, " and "))
	}
	if len(gone) > 0 {
		metadata["ownerReferences"] = kept
	}
	return nil
}
