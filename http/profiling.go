package http

import (
	"net/http/pprof"

	"github.com/valyala/fasthttp/fasthttpadaptor"
	"github.com/valyala/fasthttp/pprofhandler"
)

// profiles answers profiles of the running process, as programs that read them expect.
func profiles(x *exchange) error {
	pprofhandler.PprofHandler(x.ctx)
	return nil
}

var profileIndex = fasthttpadaptor.NewFastHTTPHandlerFunc(pprof.Index)

// profilesIndex answers a page that lists the profiles, at the path whose end its links need.
func profilesIndex(x *exchange) error {
	if !x.target.slash {
		x.header("Location", profilesPath)
		x.ctx.SetStatusCode(301)
		return nil
	}
	x.ctx.Request.SetRequestURI(profilesPath)
	profileIndex(x.ctx)
	return nil
}
