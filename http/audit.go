package http

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/audit"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/valyala/fasthttp"
)

// record begins the audit of a request when it is known who asks. Without an audit it, like
// all of this file, costs a comparison with nil.
func (s *Server) record(x *exchange) error {
	if s.opts.Audit == nil {
		return nil
	}
	s.begin(x, x.user)
	if x.audit != nil && !x.audit.Reached(audit.RequestReceived, 0) {
		return s.unstored(x)
	}
	return nil
}

// unstored is the answer to a request that may not go on because it cannot be audited.
func (s *Server) unstored(x *exchange) error {
	s.log.Error("http: a request was refused, its audit event could not be stored", "id", x.id)
	return internalError(x.id)
}

// begin begins the record of a request, if the policy wants one.
func (s *Server) begin(x *exchange, user *authn.User) {
	x.audited = true
	a := s.attributes(x)
	a.User = user
	x.audit = s.opts.Audit.Begin(&a, x.start)
	r := x.audit
	if r == nil {
		return
	}
	r.ID, r.URI = x.id, withoutToken(x.target.raw)
	r.UserAgent = userAgent(x.ctx.UserAgent())
	r.SourceIPs = appendSources(r.SourceIPs[:0], x)
}

// recordRefusal begins the record of a request that was refused before it was known who asks.
func (s *Server) recordRefusal(x *exchange) {
	if s.opts.Audit == nil || x.audited || x.info.Path == "" {
		return
	}
	s.begin(x, nil)
	x.refused = true
}

// answersStatus records a Status that is the answer. Of a refused credential it says more than
// the client gets to know.
func (x *exchange) answersStatus(f *meta.Status) {
	if x.audit == nil {
		return
	}
	if x.refused && f.Code == fasthttp.StatusUnauthorized {
		told := *f
		told.Message = x.attempt()
		f = &told
	}
	x.audit.Answered(f)
}

// recorded ends the record of a request, but for that of a watch.
func (s *Server) recorded(x *exchange) {
	r := x.audit
	if r == nil {
		return
	}
	defer s.recordingFailed(x)
	if r.User != x.user && !x.refused {
		r.As = x.user
	}
	stage := audit.ResponseComplete
	switch {
	case x.panicked:
		stage = audit.Panic
	case x.refused:
		stage = audit.ResponseStarted
	}
	r.Reached(stage, x.ctx.Response.StatusCode())
	x.audit = nil
	r.Release()
}

// recordingFailed keeps a panic of the audit from the answer, which has been made.
func (s *Server) recordingFailed(x *exchange) {
	if fault := recover(); fault != nil {
		s.log.Error("http: panic while auditing", "id", x.id, "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
	}
}

// recordWatch notes that a watch has begun; what it returns notes that it has ended.
func (x *exchange) recordWatch(code int) (end func()) {
	r := x.audit
	if r == nil {
		return func() {}
	}
	if r.User != x.user {
		r.As = x.user
	}
	x.audit = nil
	r.Reached(audit.ResponseStarted, code)
	r.Rest()
	return func() {
		r.Reached(audit.ResponseComplete, code)
		r.Release()
	}
}

// sent records an object that a client has sent, whatever the form it came in.
func (x *exchange) sent(m *schema.Message, tree schema.Tree, form media, body []byte) {
	if x.audit == nil {
		return
	}
	x.audit.Sent(tree)
	x.sentOptions(m, tree, form, body)
}

// sentOptions records the body of a delete.
func (x *exchange) sentOptions(m *schema.Message, tree schema.Tree, form media, body []byte) {
	switch {
	case x.audit == nil || !x.audit.WantsRequest():
	case form == mediaJSON:
		x.audit.SetRequest(body, false)
	default:
		x.audit.SetRequest(codec.AppendValue(nil, m, tree), false)
	}
}

// sentPatch records a patch, which is JSON if it is to be understood.
func (x *exchange) sentPatch(body []byte) {
	if x.audit != nil && x.audit.WantsRequest() {
		x.audit.SetRequest(body, true)
	}
}

// sentConfig records a configuration to apply, as it was understood.
func (x *exchange) sentConfig(config schema.Tree) {
	if x.audit != nil && x.audit.WantsRequest() {
		x.audit.SetRequest(codec.AppendAny(nil, config), true)
	}
}

// sentAgain records a configuration that has been applied before, and is not read for anything else.
func (x *exchange) sentAgain(body []byte) {
	if x.audit == nil || !x.audit.WantsRequest() {
		return
	}
	if config, _, err := x.configOf(body); err == nil {
		x.sentConfig(config)
	}
}

// answersList records a list that is the answer, which is made of so many bytes. It is put
// together only for that, and only as much of it as a record takes.
func (x *exchange) answersList(l *listBody, all int) {
	if x.audit == nil || !x.audit.WantsResponse() {
		return
	}
	size := all
	var doc []byte
	if l.add != nil || all <= audit.MaxBody { // it may be much smaller than its objects
		b := bounded{most: audit.MaxBody}
		if err := l.json(&b); err != nil {
			size = audit.MaxBody + 1
		} else {
			doc, size = b.buf, len(b.buf)
		}
	}
	x.audit.SetResponse(size, func() []byte { return doc })
}

// A bounded writer keeps what is written to it, and refuses what is too much.
type bounded struct {
	buf  []byte
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(b.buf)+len(p) > b.most {
		return 0, io.ErrShortWrite
	}
	b.buf = append(b.buf, p...)
	return len(p), nil
}

// answersDocument records a document that is the answer.
func (x *exchange) answersDocument(doc []byte) {
	if x.audit != nil && x.audit.WantsResponse() {
		x.audit.SetResponse(len(doc), func() []byte { return doc })
	}
}
