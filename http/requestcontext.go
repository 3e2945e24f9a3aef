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
	"github.com/troupe-api/troupe/policy/faultinjection"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/trace"
)

// A requestContext holds one request and its response. It belongs to the request's goroutine. It is
// pooled, so nothing may retain it.
type requestContext struct {
	ctx         *fasthttp.RequestCtx
	conn        *connection
	state       state
	target      requestinfo.Target
	info        requestinfo.Info
	kind        *schema.Kind        // nil for non-resource requests
	subresource *schema.Subresource // nil for the main resource
	bodyKind    *schema.Kind        // of bodies and responses; differs if the subresource has its own
	attributes  authz.Attributes    // User is the authenticated user, and later the impersonated one
	headerFlags wire.HeaderFlags
	headers     credentials.Headers // without the credentials
	format      negotiate.Format
	start       time.Time
	auditID     string // of the request
	deadlineCtx *deadline.Lazy
	permit      limits.Permit
	audit       *audit.Record // nil if the request is not recorded
	warnings    warning.List
	caughtUp    bool
	fault       *faultinjection.Rule // fault that the handler must inject
	span        trace.Span           // nil if requests are not traced
}

var requestContexts = sync.Pool{New: func() any { return new(requestContext) }}

func newRequestContext(c *connection, ctx *fasthttp.RequestCtx) *requestContext {
	x := requestContexts.Get().(*requestContext)
	x.ctx, x.conn, x.start = ctx, c, time.Now()
	x.info.Method = methodName(ctx.Method())
	x.headers.Header = &ctx.Request.Header
	return x
}

// release clears all fields and returns the requestContext to its pool. Without clearing, data
// could leak into another request.
func (x *requestContext) release() {
	if x.deadlineCtx != nil {
		x.deadlineCtx.Stop()
	}
	*x = requestContext{}
	requestContexts.Put(x)
}

// methodName returns the method as a string that remains valid after the request. All unknown
// methods share one name, so that clients cannot create metric series.
func methodName(m []byte) string {
	for _, s := range [...]string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"} {
		if string(m) == s {
			return s
		}
	}
	return "OTHER"
}

func (x *requestContext) acceptHeader() []byte { return x.ctx.Request.Header.Peek("Accept") }

func (x *requestContext) setHeader(name, value string) { x.ctx.Response.Header.Set(name, value) }

func (x *requestContext) addWarnings(texts []string) {
	if len(texts) > 0 {
		x.warnings.Add(&x.ctx.Response.Header, texts)
	}
}

func (x *requestContext) addRecorded(r *request.Recorder) {
	warnings, annotations := r.Recorded()
	x.addWarnings(warnings)
	if x.audit != nil {
		x.audit.Annotate(annotations)
	}
}

func (x *requestContext) annotate(key, value string) {
	if x.audit != nil {
		x.audit.Annotate([]request.Annotation{{Key: key, Value: value}})
	}
}
