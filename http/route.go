package http

import (
	"strings"

	"github.com/fasthttp/router"
	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/valyala/fasthttp"
)

// route calls the handler of a request that has passed the filters.
func (s *Server) route(x *requestContext) error {
	if x.info.IsResource {
		return s.routeResource(x)
	}
	if x.target.Escaped || x.ctx.Request.Header.RequestURI()[0] != '/' {
		return apierrors.PathNotFound()
	}
	if x.target.TrailingSlash {
		if !allowsTrailingSlash(&x.target) {
			return apierrors.PathNotFound()
		}
		x.ctx.Request.SetRequestURI(strings.TrimSuffix(x.target.Path, "/"))
	}
	s.router.Handler(x.ctx)
	return x.routeErr
}

// pprofPath is that of the index of profiles.
const pprofPath = "/debug/pprof/"

// allowsTrailingSlash tells whether a path that ends in a slash may be that of a fixed route without it.
// Clients rely on that for these paths, and on no others.
func allowsTrailingSlash(t *requestinfo.Target) bool {
	return t.Segments[0] == "api" || t.Segments[0] == "apis" || t.Path == "/version/" || t.Path == pprofPath
}

// routeHandler makes a handler of the router from one of ours. The router's handlers return nothing, so
// the error stays with the request.
func routeHandler(f func(*requestContext) error) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		x := currentRequest(ctx)
		x.routeErr = f(x)
	}
}

// routes lists the fixed routes.
func (s *Server) routes() {
	r := router.New()
	r.RedirectTrailingSlash = false
	r.RedirectFixedPath = false
	r.HandleOPTIONS = false
	r.HandleMethodNotAllowed = true
	r.NotFound = routeHandler(func(*requestContext) error { return apierrors.PathNotFound() })
	r.MethodNotAllowed = routeHandler(serveMethodNotAllowed)
	for _, name := range healthNames {
		for _, method := range []string{"GET", "HEAD"} {
			r.Handle(method, "/"+name, routeHandler(s.health(name)))
			r.Handle(method, "/"+name+"/{check:*}", routeHandler(s.healthCheck(name)))
		}
	}
	r.GET("/", routeHandler(func(x *requestContext) error {
		s.writeRaw(x, negotiate.TypeJSON, s.documents.Current().Index())
		return nil
	}))
	r.GET("/metrics", routeHandler(s.writeMetrics))
	r.GET("/version", routeHandler(func(x *requestContext) error { s.writeBody(x, s.version); return nil }))
	r.GET("/api", routeHandler(s.discoverCore))
	r.GET("/apis", routeHandler(s.discoverGroups))
	r.GET("/api/{version}", routeHandler(s.discoverResources))
	r.GET("/apis/{group}", routeHandler(s.discoverGroup))
	r.GET("/apis/{group}/{version}", routeHandler(s.discoverResources))
	r.GET("/openapi/v2", routeHandler(s.serveOpenAPIV2))
	r.GET(openapiPath, routeHandler(s.serveOpenAPIV3Index))
	r.GET(openapiPath+"/{path:*}", routeHandler(s.serveOpenAPIV3))
	if s.opts.Profiling {
		r.GET(strings.TrimSuffix(pprofPath, "/"), routeHandler(servePprofIndex))
		r.GET(pprofPath+"{profile:*}", routeHandler(servePprof))
	}
	for path, extra := range s.opts.ExtraRoutes {
		r.GET(path, routeHandler(s.serveExtraRoute(path, extra)))
	}
	s.router = r
}

// serveMethodNotAllowed answers a method that a fixed route does not have. The router always names
// OPTIONS among those that it has.
func serveMethodNotAllowed(x *requestContext) error {
	allowed := string(x.ctx.Response.Header.Peek("Allow"))
	x.setHeader("Allow", strings.TrimSuffix(allowed, ", OPTIONS"))
	return apierrors.MethodNotAllowed()
}

// routeResource finds the kind and calls the handler of the verb.
func (s *Server) routeResource(x *requestContext) (err error) {
	x.kind, x.subresource, err = x.info.Resolve(x.method, s.opts.Catalog.Kind)
	if err != nil {
		return s.kindNotFound(x, err)
	}
	if err := s.reserveWork(x); err != nil {
		return err
	}
	defer s.releaseWork(x)
	x.bodyKind = convert.BodyKind(x.kind, x.subresource)
	s.warnDeprecated(x)
	watching := x.info.Verb == "watch"
	f, err := s.negotiateFormat(x, watching)
	if err != nil {
		return err
	}
	f.Pretty = x.format.Pretty
	x.format = f
	if operation := s.operations[operationKey{x.kind, x.info.Subresource}]; operation != nil {
		return s.runOperation(x, operation)
	}
	if x.kind.Virtual() {
		return apierrors.MethodNotAllowed() // no operation is registered for it
	}
	switch x.info.Verb {
	case "get":
		return s.get(x)
	case "list":
		return s.list(x)
	case "watch":
		return s.watch(x)
	case "create":
		return s.create(x)
	case "update":
		return s.update(x)
	case "patch":
		return s.patch(x)
	case "delete":
		return s.delete(x)
	case "deletecollection":
		return s.deleteCollection(x)
	}
	return apierrors.MethodNotAllowed()
}
