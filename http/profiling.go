package http

import (
	"net/http/pprof"

	"github.com/valyala/fasthttp/fasthttpadaptor"
	"github.com/valyala/fasthttp/pprofhandler"
)

// servePprof answers profiles of the running process, as programs that read them expect.
func servePprof(x *requestContext) error {
	pprofhandler.PprofHandler(x.ctx)
	return nil
}

var pprofIndex = fasthttpadaptor.NewFastHTTPHandlerFunc(pprof.Index)

// servePprofIndex answers a page that lists the profiles. Its links are relative, so the path ends in a slash.
func servePprofIndex(x *requestContext) error {
	if !x.target.TrailingSlash {
		x.setHeader("Location", pprofPath)
		x.ctx.SetStatusCode(301)
		return nil
	}
	x.ctx.Request.SetRequestURI(pprofPath)
	pprofIndex(x.ctx)
	return nil
}
