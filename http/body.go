package http

import (
	"strconv"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/requestbody"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// decodeObject decodes the body of a create or update. If the field validation is Warn, it returns
// warnings about unknown and duplicate fields. It audits the body before it checks the fields, so
// that rejected bodies are recorded too.
func (s *Server) decodeObject(x *requestContext, v request.FieldValidation) (object tree.Tree, warnings []string, err error) {
	body, err := s.readBody(x)
	if err != nil {
		return nil, nil, err
	}
	k, encoding := x.bodyKind, s.bodyEncoding(x)
	object, faults, err := s.bodies.Object(k, encoding, body)
	if err != nil {
		return nil, nil, err
	}
	x.auditRequestObject(k.Message(), object, encoding, body)
	warnings, err = requestbody.CheckFields(k, faults, v)
	return object, warnings, err
}

func (s *Server) bodyEncoding(x *requestContext) negotiate.Encoding {
	return s.names.EncodingOfContentType(string(x.ctx.Request.Header.ContentType()))
}

// readBody returns the body, which is valid until the request ends. Compressed bodies are rejected,
// because their size is unknown before decompression.
func (s *Server) readBody(x *requestContext) ([]byte, error) {
	if e := x.ctx.Request.Header.ContentEncoding(); len(e) > 0 && string(e) != "identity" {
		return nil, &meta.Status{
			Code: 415, Reason: meta.ReasonUnsupportedMediaType,
			Message: "the content encoding " + strconv.Quote(string(e)) + " is not supported",
		}
	}
	body, err := s.receiveBody(x)
	if err != nil {
		return nil, err
	}
	if x.audit != nil && len(body) > 0 {
		x.audit.SetHasRequestBody()
	}
	return body, nil
}

// maxReviewBytes limits the request bodies of kinds that are not stored, such as
// SelfSubjectAccessReview. The limit is low, because almost all users may create some of these.
const maxReviewBytes = 64 << 10

// receiveBody reads the request body. While a request waits for its body, it does not count toward
// the in-flight limits. Afterward, receiveBody reacquires the flow control seats and the in-flight
// slot, which may fail with 429. It also reserves memory for the body and the response.
func (s *Server) receiveBody(x *requestContext) ([]byte, error) {
	waits, held := x.conn.BodyPending(), false
	if waits {
		held = x.permit.ReleaseTurn()
	}
	limit := int64(s.opts.Limits.MaxRequestBodyBytes)
	if x.kind.Virtual() {
		limit = maxReviewBytes
	}
	body, err := x.conn.ReadBody(limit, x.permit.Reserved)
	if err != nil {
		return nil, tooManyRequests(err)
	}
	if held {
		err = s.acquireTurn(x)
	}
	if waits && err == nil && s.opts.MemoryMonitor != nil {
		err = s.reserveWork(x)
	}
	if err == nil {
		err = s.reserveChange(x)
	}
	return body, err
}
