package http

import (
	"net/http/pprof"

	"github.com/valyala/fasthttp/fasthttpadaptor"
	"github.com/valyala/fasthttp/pprofhandler"
)

func servePprof(x *requestContext) error {
	pprofhandler.PprofHandler(x.ctx)
	return nil
}

var pprofIndex = fasthttpadaptor.NewFastHTTPHandlerFunc(pprof.Index)

// servePprofIndex lists the profiles. The page's links are relative, so its path must end in a
// slash.
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
