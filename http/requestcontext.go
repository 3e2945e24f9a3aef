package http

import (
	"sync"
	"time"

	"github.com/troupe-api/troupe/http/internal/credentials"
	"github.com/troupe-api/troupe/http/internal/deadline"
	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/http/internal/warning"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/audit"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/valyala/fasthttp"
)

// A requestContext is one request and its answer. It belongs to the goroutine of the
// request and is used again afterwards: nothing may keep it.
type requestContext struct {
	ctx         *fasthttp.RequestCtx
	conn        *connection
	state       state
	target      requestinfo.Target
	info        requestinfo.Info
	kind        *schema.Kind        // nil for what is no resource request
	subresource *schema.Subresource // nil for the main resource
	bodyKind    *schema.Kind        // of bodies and answers: that of the sub-resource, if it has its own
	attributes  authz.Attributes    // what is decided on; User is the authenticated and then the impersonated user
	headerFlags wire.HeaderFlags
	headers     credentials.Headers // those that have not been read as credentials
	format      negotiate.Format
	start       time.Time
	auditID     string // under which the request is audited
	deadlineCtx *deadline.Lazy
	workBytes   int64 // bytes of memory that are set aside for it
	permit      limits.Permit
	audit       *audit.Record // nil if nothing is recorded of the request
	warnings    warning.List
	// caughtUp: see Server.catchUp.
	caughtUp bool
}

// requestContexts holds those that can be used again; they refer to nothing.
var requestContexts = sync.Pool{New: func() any { return new(requestContext) }}

func newRequestContext(c *connection, ctx *fasthttp.RequestCtx) *requestContext {
	x := requestContexts.Get().(*requestContext)
	x.ctx, x.conn, x.start = ctx, c, time.Now()
	x.info.Method = methodName(ctx.Method())
	x.headers.Header = &ctx.Request.Header
	return x
}

// Everything is zeroed, so that nothing of one request can reach another through the pool, and
// nothing is kept alive.
func (x *requestContext) release() {
	if x.deadlineCtx != nil {
		x.deadlineCtx.Stop()
	}
	*x = requestContext{}
	requestContexts.Put(x)
}

// methodName is the method as text that outlives the request.
//
// fasthttp's bytes are used again with the connection. Unknown methods share one name, or a client could make metric
// series at will.
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

// addWarnings gives the answer a Warning header for each text that it does not have yet.
func (x *requestContext) addWarnings(texts []string) { x.warnings.Add(&x.ctx.Response.Header, texts) }

// addRecorded tells the client and the audit event what was recorded of a mutation.
func (x *requestContext) addRecorded(r *request.Recorder) {
	warnings, annotations := r.Recorded()
	x.addWarnings(warnings)
	if x.audit != nil {
		x.audit.Annotate(annotations)
	}
}
