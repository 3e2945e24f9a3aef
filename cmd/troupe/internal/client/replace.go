package client

import (
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

func replace(f *connectionFlags) *cobra.Command {
	o := &createOptions{}
	subresource, force := "", false
	grace := int64(-1)
	c := &cobra.Command{
		Use:   "replace -f FILE…",
		Short: "Put objects of files in the place of those that are there",
		Args:  cobra.NoArgs,
	}
	o.addFiles(c)
	o.add(c)
	c.Flags().BoolVar(&force, "force", false, "Delete what is there, and create it anew.")
	c.Flags().Int64Var(&grace, "grace-period", -1, "With --force: seconds to end; negative: as the object says.")
	c.Flags().StringVar(&subresource, "subresource", "", "Sub-resource to replace: status or scale.")
	c.RunE = f.runWith(o.stdinUse, func(s *session, _ []string) error {
		return s.eachManifest(&o.targetFlags, func(one selection) error {
			switch {
			case len(one.names) == 0:
				return one.unnamed()
			case force:
				return s.replaceByForce(o, one, grace)
			}
			return s.replaceOne(o, one, subresource)
		})
	})
	return c
}

// replaceOne puts the object of a manifest in the place of the one that is there.
func (s *session) replaceOne(o *createOptions, one selection, subresource string) error {
	m := one.manifest
	q, err := o.query()
	if err != nil {
		return err
	}
	path := one.resource.Path(one.namespace, one.names[0])
	if subresource != "" {
		path += "/" + url.PathEscape(subresource)
	}
	replaced := object{one.resource, m.Object, m.Source}
	if o.dryRun != dryRunClient {
		answer, err := s.Do(s.ctx, rest.Request{Method: http.MethodPut, Path: path, Query: q, Body: document.JSON(m.Object)})
		if err == nil {
			replaced.tree, err = answer.Tree()
		}
		if err != nil {
			return &sourced{"replacing", m.Source, err}
		}
	}
	return s.printAs(o.print, replaced, "replaced"+o.dryRun.suffix())
}

// replaceByForce deletes an object, waits until it is gone, and creates it anew.
func (s *session) replaceByForce(o *createOptions, one selection, grace int64) error {
	m := one.manifest
	if o.dryRun != dryRunNone {
		return usageError("--dry-run can not be used when --force is set")
	}
	t := target{resource: one.resource, namespace: one.namespace, name: one.names[0], source: m.Source}
	uid, err := s.deleteNamed(t, deleteOptions{cascade: "background", grace: grace})
	switch {
	case err == nil:
		s.printDeleted(&deleteFlags{force: grace == 0, output: nameOnly(o.print.Output)}, t)
		if err := s.untilGone(s.ctx, t.resource, t.namespace, t.name, uid); err != nil {
			return err
		}
	case !rest.IsNotFound(err):
		return &sourced{"deleting", m.Source, err}
	}
	fresh := tree.Clone(m.Object).(tree.Tree)
	for _, field := range []string{"resourceVersion", "uid", "creationTimestamp"} {
		delete(fresh.Object("metadata"), field)
	}
	made, err := s.post(o, one.resource, one.namespace, fresh)
	if err != nil {
		return &sourced{"replacing", m.Source, err}
	}
	return s.printAs(o.print, object{one.resource, made, m.Source}, "replaced")
}

// nameOnly is the format name, if that is wanted.
func nameOnly(output string) string {
	if output == "name" {
		return output
	}
	return ""
}
