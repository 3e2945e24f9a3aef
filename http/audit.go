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

// beginAudit starts the audit record of an authenticated request. In blocking mode, it rejects the
// request if the audit event cannot be stored.
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

func (s *Server) auditUnavailable(x *requestContext) error {
	s.log.Error("rejected a request because its audit event could not be stored", "id", x.auditID)
	return apierrors.InternalError(x.auditID)
}

// newAuditRecord redacts the URI, because the URI may contain a token.
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

// maxUserAgent limits the recorded User-Agent, in bytes, as in kube-apiserver.
const maxUserAgent = 1024

func truncateUserAgent(b []byte) string {
	if len(b) > maxUserAgent {
		return string(b[:maxUserAgent]) + "...TRUNCATED"
	}
	return string(b)
}

func (s *Server) auditRefusal(x *requestContext) {
	if s.opts.Audit == nil || x.state != stateReceived || x.info.Path == "" {
		return
	}
	x.state = stateRefused
	s.setAttributes(x, nil)
	s.newAuditRecord(x)
}

// auditResponseStatus adds a Status to the audit record as the response. For a 401, the record also
// lists the attempted authentication methods, which are hidden from the client.
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

func (s *Server) recoverAuditPanic(x *requestContext) {
	if fault := recover(); fault != nil {
		s.log.Error("panic while auditing", "id", x.auditID, "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
	}
}

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

// auditWatch records the start of a watch or a tunnel, and returns a function that records its end.
// It detaches the audit record from the requestContext, which returns to its pool before the watch
// ends.
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

func (x *requestContext) auditRequestObject(m *schema.Message, object tree.Tree, form negotiate.Encoding, body []byte) {
	if x.audit == nil {
		return
	}
	x.audit.SetRequestObject(object)
	x.auditRequestOptions(m, object, form, body)
}

func (x *requestContext) auditRequestOptions(m *schema.Message, object tree.Tree, form negotiate.Encoding, body []byte) {
	switch {
	case x.audit == nil || !x.audit.WantsRequest():
	case form == negotiate.JSON:
		x.audit.SetRequest(body, false)
	default:
		x.audit.SetRequest(codec.AppendValue(nil, m, object), false)
	}
}

func (x *requestContext) auditRequestPatch(body []byte) {
	if x.audit != nil && x.audit.WantsRequest() {
		x.audit.SetRequest(body, true)
	}
}

func (x *requestContext) auditRequestConfig(config tree.Tree) {
	if x.audit != nil && x.audit.WantsRequest() {
		x.audit.SetRequest(codec.AppendAny(nil, config), true)
	}
}

// auditRepeatedApply records the configuration of a repeated apply, which has not been decoded yet.
func (s *Server) auditRepeatedApply(x *requestContext, encoding negotiate.Encoding, body []byte) {
	if x.audit == nil || !x.audit.WantsRequest() {
		return
	}
	if config, _, err := s.decodeConfig(x, encoding, body); err == nil {
		x.auditRequestConfig(config)
	}
}

// auditResponseList records a list response. all is the total size of the listed objects in bytes.
// List responses are streamed, so it builds the document only if an audit record may hold it.
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

func (x *requestContext) auditResponseDocument(doc []byte) {
	if x.audit != nil && x.audit.WantsResponse() {
		x.audit.SetResponse(len(doc), func() []byte { return doc })
	}
}
