package http

import (
	nethttp "net/http"
	"strings"

	"github.com/fasthttp/router"
	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/console"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/http/internal/warning"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/valyala/fasthttp"
)

// route calls the handler of a request that has passed the filters, or passes it on to who serves its version.
//
// A path with escapes names no fixed route: the router would see it unescaped, and what was authorized is the path as
// it came.
func (s *Server) route(x *requestContext) error {
	if to := s.aggregatedServer(x); to != nil {
		return s.passOn(x, to)
	}
	if x.info.IsResource {
		return s.routeResource(x)
	}
	if x.target.Escaped || x.ctx.Request.Header.RequestURI()[0] != '/' {
		return apierrors.PageNotFound()
	}
	if x.target.TrailingSlash {
		if !allowsTrailingSlash(&x.target) {
			return apierrors.PageNotFound()
		}
		x.ctx.Request.SetRequestURI(strings.TrimSuffix(x.target.Path, "/"))
	}
	s.router.Handler(x.ctx)
	return x.routeErr
}

// Paths that are named in several places; pprofPath is that of the index of profiles.
const (
	pprofPath  = "/debug/pprof/"
	slisPath   = "/metrics/slis"
	statusPath = "/statusz"
	flagsPath  = "/flagz"

	consolePath       = "/console"
	consoleConfigPath = consolePath + "/config.json"
)

// allowsTrailingSlash tells whether a path that ends in a slash may be that of a fixed route without it.
// Clients rely on that for these paths, and on no others.
func allowsTrailingSlash(t *requestinfo.Target) bool {
	return t.Segments[0] == "api" || t.Segments[0] == "apis" || t.Path == "/version/" || t.Path == pprofPath || t.Path == consolePath+"/"
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
//
// The router's own redirects are switched off. A client that is redirected may send its token elsewhere or turn a
// POST into a GET; a wrong path is a 404 instead.
func (s *Server) routes() {
	r := router.New()
	r.RedirectTrailingSlash = false
	r.RedirectFixedPath = false
	r.HandleOPTIONS = false
	r.HandleMethodNotAllowed = true
	r.NotFound = routeHandler(func(*requestContext) error { return apierrors.PageNotFound() })
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
	r.GET(slisPath, routeHandler(s.writeHealthMetrics))
	if s.opts.StatusPage {
		r.GET(statusPath, routeHandler(s.serveZPage(s.statusPage())))
	}
	if s.opts.Flags != nil {
		r.GET(flagsPath, routeHandler(s.serveZPage(s.flagsPage())))
	}
	r.GET("/version", routeHandler(s.serveVersion))
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
	if s.opts.Console != nil {
		serve := routeHandler(s.serveConsole(console.New(console.Options{Naming: s.opts.Naming, Version: s.opts.Version, SignIn: s.opts.Console.SignIn})))
		for _, method := range []string{"GET", "HEAD"} {
			r.Handle(method, consolePath, serve)
			r.Handle(method, consolePath+"/{file:*}", serve)
		}
	}
	if s.opts.FlowControl != nil {
		for name, dump := range s.opts.FlowControl.Dumps() {
			r.GET(dumpPath+name, routeHandler(s.serveDump(dump)))
		}
	}
	for path, extra := range s.opts.ExtraRoutes {
		if extra.Do != nil {
			r.POST(path, routeHandler(s.doExtraRoute(extra)))
		} else {
			r.GET(path, routeHandler(s.serveExtraRoute(path, extra)))
		}
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
//
// An operation goes before the verbs, since its kind may have objects of its own, such as an eviction of a Pod.
func (s *Server) routeResource(x *requestContext) (err error) {
	x.kind, x.subresource, err = x.info.Resolve(x.method, s.opts.Catalog.Kind)
	if err != nil && s.catchUp(x) { // its definition, or the APIService of its version, may be new
		if to := s.aggregatedServer(x); to != nil {
			return s.passOn(x, to)
		}
		x.kind, x.subresource, err = x.info.Resolve(x.method, s.opts.Catalog.Kind)
	}
	if err != nil {
		return s.kindNotFound(x, err)
	}
	operation, isOperation := s.operations[operationKey{x.kind, x.info.Subresource}]
	if isOperation || x.subresource != nil && x.subresource.Connects {
		s.catchUp(x) // if that fails, the answer is that of what is known here
	}
	if x.subresource != nil && x.subresource.Connects {
		x.bodyKind = convert.BodyKind(x.kind, x.subresource)
		return s.connect(x)
	}
	if err := s.reserveWork(x); err != nil {
		return err
	}
	defer s.releaseWork(x)
	x.bodyKind = convert.BodyKind(x.kind, x.subresource)
	s.warnDeprecated(x)
	watching := x.info.Verb == "watch"
	f, err := s.negotiateFormat(x, watching)
	x.negotiated = true
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

// kindNotFound is the answer to a path that leads to no kind.
//
// Within a built-in group a Status says what is missing. Elsewhere clients look for the plain text to find out
// whether a definition is served yet; of a sub-resource that a served kind does not have, a Status says so.
func (s *Server) kindNotFound(x *requestContext, err error) error {
	if meta.AsStatus(err).Code != nethttp.StatusNotFound || s.opts.Catalog.IsBuiltInGroup(x.info.Group) {
		return err
	}
	if x.info.Subresource != "" && s.opts.Catalog.Kind(x.info.Group, x.info.Version, x.info.Resource) != nil {
		return meta.NewNotFound(meta.GroupResource{Group: x.info.Group, Resource: x.info.Resource}, x.info.Name)
	}
	return apierrors.PageNotFound()
}

// warnDeprecated warns a client that asks for a version which is going to be removed.
func (s *Server) warnDeprecated(x *requestContext) {
	if x.kind.Deprecation == nil {
		return
	}
	x.addWarnings([]string{warning.Deprecation(x.kind)})
	if x.audit != nil {
		x.audit.SetDeprecated(x.kind.Deprecation.Removed)
	}
	s.requestMetrics.MarkDeprecated(x.kind, x.info.Subresource)
}

// setAllowHeader names in a header the methods that the resource of a request has.
func (s *Server) setAllowHeader(x *requestContext) {
	var methods []string
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		i := x.info.WithMethod(method)
		if _, _, err := i.Resolve(method, s.opts.Catalog.Kind); err == nil {
			methods = append(methods, method)
		}
	}
	x.setHeader("Allow", strings.Join(methods, ", "))
}
