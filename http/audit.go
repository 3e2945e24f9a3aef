package http

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/valyala/fasthttp"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/credentials"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/represent"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/audit"
)

// beginAudit begins the audit of a request when it is known who asks. Where nothing is audited this, like
// the rest of this file, costs a comparison with nil.
//
// An event that must be stored before the request goes on, and could not be, refuses the request: what an audit
// cannot show must not happen.
func (s *Server) beginAudit(x *requestContext) error {
	if s.opts.Audit == nil {
		return nil
	}
	s.newAuditRecord(x)
	if x.audit != nil && !x.audit.EmitStage(audit.RequestReceived, 0) {
		return s.auditUnavailable(x)
	}
	return nil
}

// auditUnavailable is the answer to a request that may not go on because it cannot be audited.
func (s *Server) auditUnavailable(x *requestContext) error {
	s.log.Error("a request was refused, its audit event could not be stored", "id", x.auditID)
	return apierrors.InternalError(x.auditID)
}

// newAuditRecord begins the record of a request, if the policy wants one.
//
// The URI is redacted because a token may be in its query.
func (s *Server) newAuditRecord(x *requestContext) {
	x.audit = s.opts.Audit.Begin(&x.attributes, x.start)
	r := x.audit
	if r == nil {
		return
	}
	r.ID, r.URI = x.auditID, credentials.Redact(x.target.Raw)
	r.UserAgent = truncateUserAgent(x.ctx.UserAgent())
	r.SourceIPs = wire.AppendSourceIPs(r.SourceIPs[:0], x.ctx, x.headerFlags)
}

// maxUserAgent bounds a User-Agent, in bytes.
const maxUserAgent = 1024

// truncateUserAgent is a User-Agent within its bound.
func truncateUserAgent(b []byte) string {
	if len(b) > maxUserAgent {
		return string(b[:maxUserAgent]) + "...TRUNCATED"
	}
	return string(b)
}

// auditRefusal begins the record of a request that was refused before it was known who asks.
func (s *Server) auditRefusal(x *requestContext) {
	if s.opts.Audit == nil || x.state != stateReceived || x.info.Path == "" {
		return
	}
	x.state = stateRefused
	s.setAttributes(x, nil)
	s.newAuditRecord(x)
}

// auditResponseStatus records a Status that is the answer. Why a credential was refused is recorded, though
// the client is not told.
func (x *requestContext) auditResponseStatus(f *meta.Status) {
	if x.audit == nil {
		return
	}
	if x.state == stateRefused && f.Code == fasthttp.StatusUnauthorized {
		told := *f
		told.Message = x.authFailureMessage()
		f = &told
	}
	x.audit.SetStatus(f)
}

// endAudit ends the record of a request, but for that of a watch.
func (s *Server) endAudit(x *requestContext) {
	r := x.audit
	if r == nil {
		return
	}
	defer s.recoverAuditPanic(x)
	if r.User != x.attributes.User && x.state != stateRefused {
		r.ImpersonatedUser = x.attributes.User
	}
	stage := audit.ResponseComplete
	switch {
	case x.state.panicked():
		stage = audit.Panic
	case x.state == stateRefused:
		stage = audit.ResponseStarted
	}
	r.EmitStage(stage, x.ctx.Response.StatusCode())
	x.audit = nil
	r.Release()
}

// recoverAuditPanic keeps a panic of the audit from spoiling the answer, which has been made.
func (s *Server) recoverAuditPanic(x *requestContext) {
	if fault := recover(); fault != nil {
		s.log.Error("panic while auditing", "id", x.auditID, "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
	}
}

// auditStarted notes that an answer begins which may go on for long.
func (x *requestContext) auditStarted(code int) {
	r := x.audit
	if r == nil {
		return
	}
	if r.User != x.attributes.User {
		r.ImpersonatedUser = x.attributes.User
	}
	r.EmitStage(audit.ResponseStarted, code)
}

// auditWatch notes that a watch, or a tunnel, has begun; what it returns notes that it has ended.
//
// The requestContext goes back to its pool when the handler returns, long before the watch ends. So the record leaves
// it and belongs to the watch; its buffers are dropped, since a watch may last for hours.
func (x *requestContext) auditWatch(code int) (end func()) {
	r := x.audit
	if r == nil {
		return func() {}
	}
	x.auditStarted(code)
	x.audit = nil
	r.DropBuffers()
	return func() {
		r.EmitStage(audit.ResponseComplete, code)
		r.Release()
	}
}

// auditRequestObject records an object that a client has sent, in whatever encoding it came.
func (x *requestContext) auditRequestObject(m *schema.Message, object tree.Tree, form negotiate.Encoding, body []byte) {
	if x.audit == nil {
		return
	}
	x.audit.SetRequestObject(object)
	x.auditRequestOptions(m, object, form, body)
}

// auditRequestOptions records the body of a delete.
//
// JSON is recorded as it came. Other encodings become JSON first, as a record is JSON whatever the client speaks.
func (x *requestContext) auditRequestOptions(m *schema.Message, object tree.Tree, form negotiate.Encoding, body []byte) {
	switch {
	case x.audit == nil || !x.audit.WantsRequest():
	case form == negotiate.JSON:
		x.audit.SetRequest(body, false)
	default:
		x.audit.SetRequest(codec.AppendValue(nil, m, object), false)
	}
}

// auditRequestPatch records a patch. All patches but those of an apply are JSON.
func (x *requestContext) auditRequestPatch(body []byte) {
	if x.audit != nil && x.audit.WantsRequest() {
		x.audit.SetRequest(body, true)
	}
}

// auditRequestConfig records a configuration to apply, as it was understood.
func (x *requestContext) auditRequestConfig(config tree.Tree) {
	if x.audit != nil && x.audit.WantsRequest() {
		x.audit.SetRequest(codec.AppendAny(nil, config), true)
	}
}

// auditRepeatedApply records a configuration that has been applied before, and was not decoded for that reason.
//
// This is the one place that decodes it, so the price of the decoding is only paid where a policy wants bodies.
func (s *Server) auditRepeatedApply(x *requestContext, encoding negotiate.Encoding, body []byte) {
	if x.audit == nil || !x.audit.WantsRequest() {
		return
	}
	if config, _, err := s.decodeConfig(x, encoding, body); err == nil {
		x.auditRequestConfig(config)
	}
}

// auditResponseList records a list that is the answer, which is made of so many bytes. It is put
// together only for that, and only as much of it as a record takes.
func (x *requestContext) auditResponseList(l *represent.List, all int) {
	if x.audit == nil || !x.audit.WantsResponse() {
		return
	}
	size := all
	var doc []byte
	if l.Reshaped() || all <= audit.MaxBody { // it may be much smaller than its objects
		b := boundedBuffer{limit: audit.MaxBody}
		if err := l.JSON(&b); err != nil {
			size = audit.MaxBody + 1
		} else {
			doc, size = b.buf, len(b.buf)
		}
	}
	x.audit.SetResponse(size, func() []byte { return doc })
}

// A boundedBuffer keeps what is written to it, and refuses what is beyond its limit.
type boundedBuffer struct {
	buf   []byte
	limit int
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if len(b.buf)+len(p) > b.limit {
		return 0, io.ErrShortWrite
	}
	b.buf = append(b.buf, p...)
	return len(p), nil
}

// auditResponseDocument records a document that is the answer.
func (x *requestContext) auditResponseDocument(doc []byte) {
	if x.audit != nil && x.audit.WantsResponse() {
		x.audit.SetResponse(len(doc), func() []byte { return doc })
	}
}
