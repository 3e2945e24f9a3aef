package http

import (
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/audit"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/valyala/fasthttp"
)

// An exchange is one request and its answer. It belongs to the goroutine of the
// request and is used again afterwards: nothing may keep it.
type exchange struct {
	ctx    *fasthttp.RequestCtx
	conn   *conn
	method string
	target target
	query  query
	info   Info
	kind   *schema.Kind        // nil for what is no resource request
	sub    *schema.Subresource // nil for the main resource
	speaks *schema.Kind        // of bodies and answers: that of the sub-resource, if it has its own
	user   *authn.User         // who asks or, if that one asks so, whom it acts as
	// ambient: who asks is known by the connection alone, which a browser brings along unasked.
	ambient bool
	proof   *proof // of a watch: what it was let in by
	heading heading
	headers headers // those that have not told yet who asks
	format  format
	start   time.Time
	id      string // under which the request is audited
	text    []byte // for headers that are being made
	wait    *patience
	work    int64 // bytes of memory that are set aside for it
	hold    hold
	audit   *audit.Record // nil if nothing is recorded of the request
	// audited: it has been decided whether it is. refused: before it was known who asks.
	audited, refused bool
	panicked         bool
	tried            string // how the client wants to prove who it is: bearer, basic or ""
	// warnings are the texts of the Warning headers.
	warnings []string
	// hijacked: the watch writes the answer.
	hijacked bool
}

// exchanges holds those that wait to be used, which hold nothing.
var exchanges = sync.Pool{New: func() any { return new(exchange) }}

func newExchange(ctx *fasthttp.RequestCtx) *exchange {
	x := exchanges.Get().(*exchange)
	x.ctx, x.conn, x.start, x.method = ctx, ctx.Conn().(*conn), time.Now(), methodName(ctx.Method())
	return x
}

func (x *exchange) release() {
	if x.wait != nil {
		x.wait.stop()
	}
	*x = exchange{text: x.text[:0], headers: headers{hidden: x.headers.hidden[:0]}}
	exchanges.Put(x)
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

// accept is the Accept header.
func (x *exchange) accept() []byte { return x.ctx.Request.Header.Peek("Accept") }

// header sets a header of the answer.
func (x *exchange) header(name, value string) { x.ctx.Response.Header.Set(name, value) }
