package http

import "github.com/valyala/fasthttp/pprofhandler"

// profiles answers profiles of the running process, as programs that read them expect.
func profiles(x *exchange) error {
	pprofhandler.PprofHandler(x.ctx)
	return nil
}
