package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
)

func replace(f *connectionFlags) *cobra.Command {
	o := &createOptions{}
	subresource := ""
	c := &cobra.Command{
		Use:   "replace -f FILE…",
		Short: "Put objects of files in the place of those that are there",
		Args:  cobra.NoArgs,
	}
	o.addFiles(c)
	o.add(c)
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
