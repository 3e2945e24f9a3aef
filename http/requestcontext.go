package http

import (
	"sync"
	"time"

	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/audit"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/valyala/fasthttp"
)

// A requestContext is one request and its answer. It belongs to the goroutine of the
// request and is used again afterwards: nothing may keep it.
type requestContext struct {
	ctx         *fasthttp.RequestCtx
	conn        *connection
	method      string
	target      requestinfo.Target
	query       requestinfo.Query
	info        requestinfo.Info
	kind        *schema.Kind        // nil for what is no resource request
	subresource *schema.Subresource // nil for the main resource
	bodyKind    *schema.Kind        // of bodies and answers: that of the sub-resource, if it has its own
	user        *authn.User         // who asks or, after impersonation, as whom
	// ambientAuth: the user is known by the connection alone, so a browser acts for them whatever page asks.
	ambientAuth bool
	credentials *credentialSnapshot // of a watch: what it was let in by
	headerFlags wire.HeaderFlags
	headers     headerView // those that have not been read as credentials
	format      negotiate.Format
	start       time.Time
	auditID     string // under which the request is audited
	headerBuf   []byte // scratch space for values of headers
	deadlineCtx *lazyDeadline
	workBytes   int64 // bytes of memory that are set aside for it
	permit      limits.Permit
	audit       *audit.Record // nil if nothing is recorded of the request
	// auditDecided: it has been decided whether anything is recorded. refusedBeforeAuthn: the request was
	// refused before it was known who asks.
	auditDecided, refusedBeforeAuthn bool
	panicked                         bool
	routeErr                         error  // of the handler of a fixed route
	authScheme                       string // how the client wants to prove who it is: bearer, basic or ""
	// warnings are the texts of the Warning headers.
	warnings []string
	// hijacked: the watch writes the answer.
	hijacked bool
}

// requestContexts holds those that can be used again; they refer to nothing.
var requestContexts = sync.Pool{New: func() any { return new(requestContext) }}

func newRequestContext(c *connection, ctx *fasthttp.RequestCtx) *requestContext {
	x := requestContexts.Get().(*requestContext)
	x.ctx, x.conn, x.start, x.method = ctx, c, time.Now(), methodName(ctx.Method())
	c.current = x
	return x
}

func (x *requestContext) release() {
	if x.deadlineCtx != nil {
		x.deadlineCtx.stop()
	}
	x.conn.current = nil
	*x = requestContext{headerBuf: x.headerBuf[:0], headers: headerView{hidden: x.headers.hidden[:0]}}
	requestContexts.Put(x)
}

// methodName is the method as text that outlives the request.
func methodName(m []byte) string {
	for _, s := range [...]string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"} {
		if string(m) == s {
			return s
		}
	}
	return "OTHER"
}

// acceptHeader is the Accept header.
func (x *requestContext) acceptHeader() []byte { return x.ctx.Request.Header.Peek("Accept") }

// setHeader sets a header of the answer.
func (x *requestContext) setHeader(name, value string) { x.ctx.Response.Header.Set(name, value) }
