package http

import (
	"strconv"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/requestbody"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// decodeObject reads the body of a create or an update. warnings are the texts about its
// unknown and duplicate fields, if the client wants to be warned.
//
// The audit gets the object before its fields are checked, so that a body that is refused for them is recorded too.
func (s *Server) decodeObject(x *requestContext, v request.FieldValidation) (object tree.Tree, warnings []string, err error) {
	body, err := s.readBody(x)
	if err != nil {
		return nil, nil, err
	}
	k, encoding := x.bodyKind, s.bodyEncoding(x)
	object, faults, err := s.bodies().Object(k, encoding, body)
	if err != nil {
		return nil, nil, err
	}
	x.auditRequestObject(k.Message(), object, encoding, body)
	warnings, err = requestbody.CheckFields(k, faults, v)
	return object, warnings, err
}

// bodies decodes bodies.
func (s *Server) bodies() requestbody.Decoder {
	return requestbody.Decoder{Names: &s.names, MaxBytes: s.opts.Limits.MaxRequestBodyBytes}
}

// bodyEncoding is the encoding that a request says its body is in.
func (s *Server) bodyEncoding(x *requestContext) negotiate.Encoding {
	return s.names.EncodingOfContentType(string(x.ctx.Request.Header.ContentType()))
}

// readBody is the body of the request, valid while the request is.
//
// A compressed body is refused: its size is not known before it is unpacked, and a small one may be huge.
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

// receiveBody reads the body of a request. While it waits for what is still to come, the request is not
// counted among those that the server works on: the time is the client's.
//
// Its turn is asked for again when the body is there; if others have taken it meanwhile, the answer is 429. The
// memory for the work is taken then too, by the size that the body really has.
func (s *Server) receiveBody(x *requestContext) ([]byte, error) {
	system := s.limiters.isSystemUser(x.attributes.User)
	waits, held := x.conn.BodyPending(), false
	if waits {
		held = x.permit.ReleaseTurn()
	}
	body, err := x.conn.ReadBody(wire.BodyLimits{Max: int64(s.opts.Limits.MaxRequestBodyBytes), Budget: s.bodyBudget, System: system})
	if err != nil {
		return nil, err
	}
	if held {
		err = s.takeTurn(x)
	}
	if waits && err == nil {
		err = s.reserveWorkOfBody(x)
	}
	return body, err
}
