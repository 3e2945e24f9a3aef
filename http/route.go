package http

import (
	"strings"

	"github.com/fasthttp/router"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/valyala/fasthttp"
)

// exchangeKey is where the exchange waits for a handler of the fixed routes.
const exchangeKey = "exchange"

// route calls the handler of a request that has passed the filters.
func (s *Server) route(x *exchange) error {
	if x.info.IsResource {
		return s.routeResource(x)
	}
	if x.target.escaped || x.ctx.Request.Header.RequestURI()[0] != '/' {
		return pathNotFound()
	}
	if x.target.slash {
		if !x.target.maySlash() {
			return pathNotFound()
		}
		x.ctx.Request.SetRequestURI(strings.TrimSuffix(x.target.path, "/"))
	}
	x.ctx.SetUserValue(exchangeKey, x)
	s.router.Handler(x.ctx)
	err, _ := x.ctx.UserValue(errorKey).(error)
	return err
}

// profilesPath is that of the index of profiles.
const profilesPath = "/debug/pprof/"

// maySlash tells whether a path that ends in a slash may be that of a fixed route without it, as
// the servers that clients know have them.
func (t *target) maySlash() bool {
	return t.segs[0] == "api" || t.segs[0] == "apis" || t.path == "/version/" || t.path == profilesPath
}

// errorKey is where a handler of the fixed routes leaves its error.
const errorKey = "error"

// fixed makes a handler of the router from one of ours.
func fixed(f func(*exchange) error) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		x := ctx.UserValue(exchangeKey).(*exchange)
		if err := f(x); err != nil {
			ctx.SetUserValue(errorKey, err)
		}
	}
}

// routes lists the fixed routes.
func (s *Server) routes() {
	r := router.New()
	r.RedirectTrailingSlash = false
	r.RedirectFixedPath = false
	r.HandleOPTIONS = false
	r.HandleMethodNotAllowed = true
	r.NotFound = fixed(func(*exchange) error { return pathNotFound() })
	r.MethodNotAllowed = fixed(otherMethod)
	for _, name := range healthNames {
		for _, method := range []string{"GET", "HEAD"} {
			r.Handle(method, "/"+name, fixed(s.health(name)))
			r.Handle(method, "/"+name+"/{check:*}", fixed(s.healthCheck(name)))
		}
	}
	r.GET("/", fixed(func(x *exchange) error { s.writeRaw(x, typeJSON, s.documents().index); return nil }))
	r.GET("/metrics", fixed(s.writeMetrics))
	r.GET("/version", fixed(func(x *exchange) error { s.writeBody(x, s.version); return nil }))
	r.GET("/api", fixed(s.discoverCore))
	r.GET("/apis", fixed(s.discoverGroups))
	r.GET("/api/{version}", fixed(s.discoverResources))
	r.GET("/apis/{group}", fixed(s.discoverGroup))
	r.GET("/apis/{group}/{version}", fixed(s.discoverResources))
	r.GET("/openapi/v2", fixed(s.describeAll))
	r.GET(openapiPath, fixed(s.describeIndex))
	r.GET(openapiPath+"/{path:*}", fixed(s.describeVersion))
	if s.opts.Profiling {
		r.GET(strings.TrimSuffix(profilesPath, "/"), fixed(profilesIndex))
		r.GET(profilesPath+"{profile:*}", fixed(profiles))
	}
	for path, extra := range s.opts.Extra {
		r.GET(path, fixed(s.extra(path, extra)))
	}
	s.router = r
}

// otherMethod answers a method that a fixed route does not have. The router always names
// OPTIONS among those that it has.
func otherMethod(x *exchange) error {
	allowed := string(x.ctx.Response.Header.Peek("Allow"))
	x.header("Allow", strings.TrimSuffix(allowed, ", OPTIONS"))
	return methodNotAllowed()
}

// routeResource finds the kind and calls the handler of the verb.
func (s *Server) routeResource(x *exchange) (err error) {
	x.kind, x.sub, err = x.info.resolve(x.method, s.opts.Catalog.Kind)
	if err != nil {
		return s.missing(x, err)
	}
	if err := s.reserveWork(x); err != nil {
		return err
	}
	defer s.releaseWork(x)
	x.speaks = convert.Speaker(x.kind, x.sub)
	s.deprecated(x)
	watching := x.info.Verb == "watch"
	f, err := s.negotiateKind(x, watching)
	if err != nil {
		return err
	}
	f.pretty = x.format.pretty
	x.format = f
	if operation := s.operations[operationKey{x.kind, x.info.Subresource}]; operation != nil {
		return s.operate(x, operation)
	}
	if x.kind.Virtual() {
		return methodNotAllowed() // nobody answers it
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
	return methodNotAllowed()
}
