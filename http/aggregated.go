package http

import (
	"strings"

	"github.com/troupe-api/troupe/http/aggregation"
	"github.com/troupe-api/troupe/http/internal/apierrors"
)

// aggregatedServer returns the aggregated server for a request, or nil if this server handles the
// request. Group paths without a version are always handled here, because only this server knows
// the discovery documents of all servers.
func (s *Server) aggregatedServer(x *requestContext) *aggregation.Server {
	if s.opts.Servers == nil {
		return nil
	}
	t := &x.target
	switch {
	case t.Segments[0] == "apis" && t.Segments[2] != "":
		return s.opts.Servers.Find(t.Segments[1], t.Segments[2])
	case t.Segments[0] == "api" && t.Segments[1] != "":
		return s.opts.Servers.Find("", t.Segments[1])
	}
	return nil
}

// forward proxies a request to the server of its API version, on behalf of the user. It
// normalizes the query, so that the remote server and the authorizer parse it alike.
func (s *Server) forward(x *requestContext, to *aggregation.Server) error {
	if !to.Available() {
		return apierrors.Unreachable("service unavailable")
	}
	if err := to.Fault(); err != nil {
		return apierrors.Misconfigured(err.Error())
	}
	t := to.Target(x.attributes.User, x.target.Path, x.target.Query.Normalized(), x.auditID)
	t.Fault = func(err error) error {
		return apierrors.Unreachable("error trying to reach service: " + err.Error())
	}
	t.UpgradeFault = func(err error) error { return apierrors.Unreachable(err.Error()) }
	return s.proxy(x, t)
}

// openapiServer returns the aggregated server of the OpenAPI v3 document at a path such as
// "apis/apps/v1", or nil.
func (s *Server) openapiServer(path string) *aggregation.Server {
	if s.opts.Servers == nil {
		return nil
	}
	root, rest, _ := strings.Cut(path, "/")
	group, version, named := strings.Cut(rest, "/")
	switch {
	case root == "apis" && named:
		return s.opts.Servers.Find(group, version)
	case root == "api" && !named:
		return s.opts.Servers.Find("", group)
	}
	return nil
}
