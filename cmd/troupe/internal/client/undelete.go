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
	selections, err := s.named(args)
	if err != nil {
		return err
	}
	if o.DryRun != dryRunNone && o.Output == "" {
		o.Output = "yaml"
		s.notef("dry run: nothing is restored without --dry-run=none\n")
	}
	for _, one := range selections {
		for _, name := range one.names {
			if err := s.undelete(o, one, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// undelete creates an object with the last state of a deleted one.
func (s *session) undelete(o *undeleteOptions, one selection, name string) error {
	label := one.resource.TypeName() + "/" + name
	revisions, err := s.revisions(one, name, 1)
	if err != nil {
		return err
	}
	last := revisions[0]
	if last.event != "DELETED" {
		return fmt.Errorf("%s exists: only deleted objects are restored (see troupe history %[1]s --diff)", label)
	}
	t := last.object
	metadata, status := t.Object("metadata"), t.Object("status")
	for _, field := range []string{
		"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "managedFields", "selfLink",
	} {
		delete(metadata, field)
	}
	if err := s.checkOwners(o, one, label, metadata); err != nil {
		return err
	}
	restored, err := s.post(&o.createOptions, one.resource, one.namespace, t)
	if err != nil {
		return err
	}
	if o.DryRun == dryRunNone && len(status) > 0 && slices.Contains(one.resource.Subresources, "status") {
		patch := document.JSON(tree.Tree{"status": status})
		changed, err := s.sendPatch(one.resource.Path(one.namespace, name)+"/status", rest.MergePatch, patch, o.FieldManager, dryRunNone)
		if err != nil {
			return fmt.Errorf("%s is restored, but without its status: %w", label, err)
		}
		restored = changed.tree
	}
	return s.printAs(o.Options, object{one.resource, restored, ""}, "restored"+o.DryRun.suffix())
}

// checkOwners returns an error if an owner no longer exists, because the object would be collected
// as garbage. With --drop-owners, it removes the reference.
func (s *session) checkOwners(o *undeleteOptions, one selection, label string, metadata tree.Tree) error {
	c, err := s.served()
	if err != nil {
		return err
	}
	kept, gone := []any{}, []string{}
	for _, owner := range metadata.Objects("ownerReferences") {
		var found tree.Tree
		if r := c.ForKind(owner.String("apiVersion"), owner.String("kind")); r != nil {
			namespace := one.namespace
			if !r.Namespaced {
				namespace = ""
			}
			found, err = s.Get(s.ctx, r.Path(namespace, owner.String("name")), nil)
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
	switch {
	case len(gone) == 0:
	case !o.DropOwners:
		return fmt.Errorf("%s belongs to %s, which no longer exists: add --drop-owners to restore it without", label, strings.Join(gone, " and "))
	default:
		metadata["ownerReferences"] = kept
	}
	return nil
}
