package client

import (
	"net/http"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

type tokenOptions struct {
	printer.Options
	Audience                                         []string
	Duration                                         time.Duration
	BoundObjectKind, BoundObjectName, BoundObjectUID string
}

func (o *tokenOptions) run(s *session, args []string) error {
	spec := tree.Tree{"audiences": tree.ListOf(o.Audience)}
	if o.Duration > 0 {
		spec["expirationSeconds"] = int64(o.Duration / time.Second)
	}
	if (o.BoundObjectKind == "") != (o.BoundObjectName == "") {
		return usageError("--bound-object-kind and --bound-object-name must be set together")
	}
	if o.BoundObjectKind != "" {
		spec["boundObjectRef"] = tree.Tree{"kind": o.BoundObjectKind, "apiVersion": "v1", "name": o.BoundObjectName, "uid": o.BoundObjectUID}
	}
	r, err := s.own("", "serviceaccounts")
	if err != nil {
		return err
	}
	body := document.JSON(tree.Tree{"apiVersion": s.catalog.Naming.Group("authentication") + "/v1", "kind": "TokenRequest", "spec": spec})
	t, err := s.tree(s.ctx, rest.Request{Method: http.MethodPost, Path: r.Path(s.Namespace, args[0]) + "/token", Body: body})
	if err != nil {
		return failedTo("create token", err)
	}
	if o.Output == "" {
		s.printf("%s\n", t.Object("status").String("token"))
		return nil
	}
	return s.print(o.Options, t)
}
