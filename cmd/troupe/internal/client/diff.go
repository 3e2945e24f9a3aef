package client

import (
	"errors"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/difference"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

func diff(f *connectionFlags) *cobra.Command {
	o := &applyOptions{dryRun: dryRunServer}
	c := &cobra.Command{
		Use:   "diff -f FILE… | -k FOLDER",
		Short: "Show what apply would change",
		Long:  "Show what apply would change, by a dry run on the server. Exit codes: 0 no differences, 1 differences, more than 1 an error.",
		Args:  cobra.NoArgs,
	}
	o.addFiles(c)
	addValidate(c, &o.validate)
	c.Flags().StringVar(&o.manager, "field-manager", fieldManager, "Name of the field manager for the applied fields.")
	c.Flags().BoolVar(&o.force, "force-conflicts", false, "Take over fields of other field managers.")
	c.Flags().BoolVar(&o.serverSide, "server-side", true, "Apply on the server; must be true.")
	c.RunE = f.runWith(o.stdinUse, func(s *session, _ []string) error {
		differs, err := s.diff(o)
		switch {
		case err != nil:
			var end *Error
			if errors.As(asError(err), &end) {
				end.Code = 2
				return end
			}
			return err
		case differs:
			return &Error{Code: 1}
		}
		return nil
	})
	return c
}

func (s *session) diff(o *applyOptions) (differs bool, err error) {
	err = s.eachManifest(&o.targetFlags, func(one selection) error {
		m := one.manifest
		if len(one.names) == 0 {
			return one.unnamed()
		}
		path := one.resource.Path(one.namespace, one.names[0])
		var before tree.Tree
		answer, err := s.Do(s.ctx, rest.Request{Method: http.MethodGet, Path: path})
		if err == nil {
			before, err = answer.Tree()
		}
		if err != nil && !rest.IsNotFound(err) {
			return err
		}
		after, _, err := s.sendApply(o, one, path, m.Object, before)
		if err != nil {
			return s.explainApply(err, "comparing", m.Source)
		}
		if before == nil || !difference.Same(before, after) {
			differs = true
			s.showDiff(difference.Unified(before, after, one.String()+" (now)", one.String()+" (applied)"))
		}
		return nil
	})
	return differs, err
}
