package http

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/console"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
)

// fixedRoutes maps non-resource paths to their handlers. A path that ends in a slash matches all
// paths below it.
type fixedRoutes map[string]fixedRoute

// A fixedRoute is the handler of a fixed path. Its methods are listed as in the Allow header.
type fixedRoute struct {
	methods []string
	serve   func(*requestContext) error
}

var (
	getOnly    = []string{"GET"}
	getAndHead = []string{"GET", "HEAD"}
	postOnly   = []string{"POST"}
	getAndPut  = []string{"GET", "PUT"}
)

const (
	pprofPath  = "/debug/pprof/"
	slisPath   = "/metrics/slis"
	statusPath = "/statusz"
	flagsPath  = "/flagz"

	consolePath       = "/console"
	consoleConfigPath = consolePath + "/config.json"
)

func (s *Server) newFixedRoutes() fixedRoutes {
	r := fixedRoutes{
		"/":               {getOnly, s.serveIndex},
		"/metrics":        {getOnly, s.writeMetrics},
		slisPath:          {getOnly, s.writeHealthMetrics},
		"/version":        {getOnly, s.serveVersion},
		"/api":            {getOnly, s.discoverCore},
		"/api/":           {getOnly, s.discoverResources},
		"/apis":           {getOnly, s.discoverGroups},
		"/apis/":          {getOnly, s.discoverGroup},
		"/openapi/v2":     {getOnly, s.serveOpenAPIV2},
		openapiPath:       {getOnly, s.serveOpenAPIV3Index},
		openapiPath + "/": {getOnly, s.serveOpenAPIV3},
	}
	for _, name := range healthNames {
		r["/"+name] = fixedRoute{getAndHead, s.health(name)}
		r["/"+name+"/"] = fixedRoute{getAndHead, s.healthCheck(name)}
	}
	if s.opts.StatusPage {
		r[statusPath] = fixedRoute{getOnly, s.serveZPage(s.statusPage())}
	}
	if s.opts.Flags != nil {
		r[flagsPath] = fixedRoute{getOnly, s.serveZPage(s.flagsPage())}
	}
	if s.opts.Profiling {
		r[strings.TrimSuffix(pprofPath, "/")] = fixedRoute{getOnly, servePprofIndex}
		r[pprofPath] = fixedRoute{getOnly, servePprof}
	}
	if s.opts.Faults != nil {
		r[faultsPath] = fixedRoute{getAndPut, s.serveFaults}
	}
	if s.opts.Console != nil {
		pages := fixedRoute{getAndHead, s.serveConsole(console.New(console.Options{Naming: s.opts.Naming, Version: s.opts.Version, SignIn: s.opts.Console.SignIn}))}
		r[consolePath], r[consolePath+"/"] = pages, pages
	}
	if s.opts.FlowControl != nil {
		for name, dump := range s.opts.FlowControl.Dumps() {
			r[dumpPath+name] = fixedRoute{getOnly, s.serveDump(dump)}
		}
	}
	for path, extra := range s.opts.ExtraRoutes {
		if extra.Do != nil {
			r[path] = fixedRoute{postOnly, s.doExtraRoute(extra)}
		} else {
			r[path] = fixedRoute{getOnly, s.serveExtraRoute(extra)}
		}
	}
	return r
}

// serve routes a request by its path. A path with escapes matches no route. The response to an
// unknown path is a 404, never a redirect. A redirected client might send its token elsewhere or
// turn a POST into a GET.
func (r fixedRoutes) serve(x *requestContext) error {
	if x.target.Escaped || x.ctx.Request.Header.RequestURI()[0] != '/' {
		return apierrors.PageNotFound()
	}
	path := x.target.Path
	if x.target.TrailingSlash {
		if !allowsTrailingSlash(&x.target) {
			return apierrors.PageNotFound()
		}
		path = strings.TrimSuffix(path, "/")
	}
	route, ok := r.find(path)
	if !ok {
		return apierrors.PageNotFound()
	}
	if !slices.Contains(route.methods, x.info.Method) {
		x.setHeader("Allow", strings.Join(route.methods, ", "))
		return apierrors.MethodNotAllowed()
	}
	return route.serve(x)
}

func (r fixedRoutes) find(path string) (route fixedRoute, ok bool) {
	route, ok = r[path]
	for i := strings.LastIndexByte(path, '/'); i > 0 && !ok; i = strings.LastIndexByte(path[:i], '/') {
		route, ok = r[path[:i+1]]
	}
	return route, ok
}

// allowsTrailingSlash reports whether clients depend on an optional trailing slash in a fixed path.
func allowsTrailingSlash(t *requestinfo.Target) bool {
	return t.Segments[0] == "api" || t.Segments[0] == "apis" || t.Path == "/version/" || t.Path == pprofPath || t.Path == consolePath+"/"
}

func (s *Server) serveIndex(x *requestContext) error {
	s.writeRaw(x, negotiate.TypeJSON, s.documents.Current().Index())
	return nil
}
