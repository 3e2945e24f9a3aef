package http

import "github.com/troupe-api/troupe/http/internal/negotiate"

// negotiateFormat selects the representation for the request's kind. Custom kinds cannot be encoded
// as Protobuf, except in Tables and partial metadata. Clients that also accept JSON get JSON, and
// others get a 406.
func (s *Server) negotiateFormat(x *requestContext) (negotiate.Format, error) {
	answer := negotiate.Objects
	if x.info.Verb == "watch" {
		answer = negotiate.Events
	}
	f, err := s.names.Negotiate(x.acceptHeader(), answer)
	if err != nil || f.Encoding != negotiate.Protobuf || f.Shape != negotiate.Whole || !x.bodyKind.IsCustom() {
		return f, err
	}
	if rest, ok := s.names.WithoutProtobuf(string(x.acceptHeader())); ok {
		return s.names.Negotiate(rest, answer)
	}
	x.format = f // a Status has a Protobuf form
	return negotiate.Format{}, s.names.NotAcceptable()
}

func (s *Server) patchTypes(x *requestContext) []string {
	if x.bodyKind.IsCustom() {
		return s.names.CustomPatchTypes
	}
	return s.names.PatchTypes
}
