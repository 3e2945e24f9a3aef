package client

import (
	"errors"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/difference"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
)

type diffOptions struct{ applyOptions }

func (o *diffOptions) run(s *session, _ []string) error {
	o.DryRun = dryRunServer
	differs, err := s.diff(&o.applyOptions)
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
}

func (s *session) diff(o *applyOptions) (differs bool, err error) {
	err = s.eachManifest(&o.targetFlags, func(one selection) error {
		m := one.manifest
		if len(one.names) == 0 {
			return one.unnamed()
		}
		path := one.resource.Path(one.namespace, one.names[0])
		before, err := s.Get(s.ctx, path, nil)
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
