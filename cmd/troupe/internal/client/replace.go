package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/manifest"
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
		if !o.IsSet() {
			return usageError("must specify one of -f and -k")
		}
		manifests, err := s.manifests(&o.targetFlags)
		if err != nil {
			return err
		}
		q, err := o.query()
		if err != nil {
			return err
		}
		var faults []error
		for i := range manifests {
			one, err := s.selectionOf(&manifests[i])
			if err != nil {
				faults = append(faults, err)
				continue
			}
			if len(one.names) == 0 {
				faults = append(faults, fmt.Errorf("an object in %q has no metadata.name", manifests[i].Source))
				continue
			}
			path := one.resource.Path(one.namespace, one.names[0])
			if force {
				faults = append(faults, unjoin(s.replaceByForce(o, one, &manifests[i], grace))...)
				continue
			}
			if subresource != "" {
				path += "/" + url.PathEscape(subresource)
			}
			replaced := object{one.resource, manifests[i].Object, manifests[i].Source}
			if o.dryRun != dryRunClient {
				answer, err := s.Do(s.ctx, rest.Request{Method: http.MethodPut, Path: path, Query: q, Body: document.JSON(manifests[i].Object)})
				if err == nil {
					replaced.tree, err = answer.Tree()
				}
				if err != nil {
					faults = append(faults, &sourced{"replacing", manifests[i].Source, err})
					continue
				}
			}
			if err := s.printAs(o.print, replaced, "replaced"+o.dryRun.suffix()); err != nil {
				return err
			}
		}
		return errors.Join(faults...)
	})
	return c
}

// replaceByForce deletes an object, waits until it is gone, and creates it anew.
func (s *session) replaceByForce(o *createOptions, one selection, m *manifest.Manifest, grace int64) error {
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
