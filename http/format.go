package http

import "github.com/troupe-api/troupe/http/internal/negotiate"

// negotiateFormat picks the representation of the kind of the request. Custom kinds have no Protobuf form; their
// metadata has.
//
// A client that would also take JSON gets that; one that takes Protobuf only is told 406. A table or the metadata
// alone is made of messages that have a Protobuf form, whatever the kind.
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

// patchTypes are the media types of patches that the kind of the request takes.
func (s *Server) patchTypes(x *requestContext) []string {
	if x.bodyKind.IsCustom() {
		return s.names.CustomPatchTypes
	}
	return s.names.PatchTypes
}
