package http

import (
	nethttp "net/http"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/warning"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
)

func (s *Server) route(x *requestContext) error {
	if to := s.aggregatedServer(x); to != nil {
		return s.forward(x, to)
	}
	if x.info.IsResource {
		return s.routeResource(x)
	}
	return s.fixed.serve(x)
}

// routeResource resolves the kind and calls the handler for the verb. An operation, such as the
// eviction of a Pod, takes precedence over the create of a stored kind.
func (s *Server) routeResource(x *requestContext) (err error) {
	x.kind, x.subresource, err = x.info.Resolve(s.opts.Catalog.Kind)
	if err != nil && s.catchUp(x) { // its CRD or APIService may be new
		if to := s.aggregatedServer(x); to != nil {
			return s.forward(x, to)
		}
		x.kind, x.subresource, err = x.info.Resolve(s.opts.Catalog.Kind)
	}
	if err != nil {
		return s.kindNotFound(x, err)
	}
	operation, isOperation := s.operations[operationKey{x.kind, x.info.Subresource}]
	if isOperation || x.subresource != nil && x.subresource.Connects {
		s.catchUp(x) // on failure, the local state is used
	}
	if x.subresource != nil && x.subresource.Connects {
		x.bodyKind = convert.BodyKind(x.kind, x.subresource)
		return s.connect(x)
	}
	if s.opts.MemoryMonitor != nil {
		if err := s.reserveWork(x); err != nil {
			return err
		}
	}
	x.bodyKind = convert.BodyKind(x.kind, x.subresource)
	if x.kind.Deprecation != nil {
		s.warnDeprecated(x)
	}
	f, err := s.negotiateFormat(x)
	x.state = stateNegotiated
	if err != nil {
		return err
	}
	f.Pretty = x.format.Pretty
	x.format = f
	if isOperation {
		return s.runOperation(x, operation)
	}
	if read := s.readers[operationKey{x.kind, x.info.Subresource}]; read != nil {
		return s.runReader(x, read)
	}
	if x.kind.Virtual() {
		return apierrors.MethodNotAllowed() // nothing is registered for it
	}
	switch x.info.Verb {
	case "get":
		return s.get(x)
	case "list":
		return s.list(x)
	case "watch":
		return s.watch(x)
	case "create", "update":
		return s.write(x)
	case "patch":
		return s.patch(x)
	case "delete":
		return s.delete(x)
	case "deletecollection":
		return s.deleteCollection(x)
	}
	return apierrors.MethodNotAllowed()
}

// kindNotFound returns the error for a path without a served resource. It is a Status for built-in
// groups and unknown subresources. For other groups, it is plain text, from which clients conclude
// that a CRD is not served yet.
func (s *Server) kindNotFound(x *requestContext, err error) error {
	if meta.AsStatus(err).Code != nethttp.StatusNotFound || s.opts.Catalog.IsBuiltInGroup(x.info.Group) {
		return err
	}
	if x.info.Subresource != "" && s.opts.Catalog.Kind(x.info.Group, x.info.Version, x.info.Resource) != nil {
		return meta.NewNotFound(meta.GroupResource{Group: x.info.Group, Resource: x.info.Resource}, x.info.Name)
	}
	return apierrors.PageNotFound()
}

func (s *Server) warnDeprecated(x *requestContext) {
	x.addWarnings([]string{warning.Deprecation(x.kind)})
	if x.audit != nil {
		x.audit.SetDeprecated(x.kind.Deprecation.Removed)
	}
	s.requestMetrics.deprecated.With(x.kind.Group, x.kind.Deprecation.Removed, x.kind.Resource, x.info.Subresource, x.kind.Version).Set(1)
}

func (s *Server) setAllowHeader(x *requestContext) {
	var methods []string
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		i := x.info.WithMethod(method)
		if _, _, err := i.Resolve(s.opts.Catalog.Kind); err == nil {
			methods = append(methods, method)
		}
	}
	x.setHeader("Allow", strings.Join(methods, ", "))
}
