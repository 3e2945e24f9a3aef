package client

import (
	"net/http"
	"net/url"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

type createOptions struct {
	targetFlags
	printer.Options
	DryRun                 dryRun
	FieldManager, Validate string
}

func (o *createOptions) query() (url.Values, error) {
	validation, err := fieldValidation(o.Validate)
	q := url.Values{"fieldManager": {o.FieldManager}, "fieldValidation": {validation}}
	if o.DryRun == dryRunServer {
		q.Set("dryRun", "All")
	}
	return q, err
}

func (o *createOptions) run(s *session, _ []string) error {
	return s.eachManifest(&o.targetFlags, func(one selection) error { return s.createOne(o, one) })
}

func (s *session) createOne(o *createOptions, one selection) error {
	m := one.manifest
	t, err := s.post(o, one.resource, one.namespace, m.Object)
	if err != nil {
		return &sourced{"creating", m.Source, err}
	}
	return s.printAs(o.Options, object{one.resource, t, m.Source}, "created"+o.DryRun.suffix())
}

func (s *session) post(o *createOptions, r *discovery.Resource, namespace string, t tree.Tree) (tree.Tree, error) {
	if o.DryRun == dryRunClient {
		return t, nil
	}
	q, err := o.query()
	if err != nil {
		return nil, err
	}
	return s.tree(s.ctx, rest.Request{Method: http.MethodPost, Path: r.Path(namespace, ""), Query: q, Body: document.JSON(t)})
}
