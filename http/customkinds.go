package http

import (
	nethttp "net/http"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Custom kinds have no Protobuf form. Their metadata has.

// negotiateFormat picks the representation of the kind of the request.
func (s *Server) negotiateFormat(x *requestContext, streaming bool) (negotiate.Format, error) {
	const shapes = true
	f, err := s.names.Negotiate(x.acceptHeader(), shapes, streaming)
	if err != nil || f.Encoding != negotiate.Protobuf || f.Shape != negotiate.Whole || !x.bodyKind.JSONOnly {
		return f, err
	}
	if rest, ok := s.names.WithoutProtobuf(string(x.acceptHeader())); ok {
		return s.names.Negotiate(rest, shapes, streaming)
	}
	x.format = f // a Status has a Protobuf form
	return negotiate.Format{}, s.names.NotAcceptable()
}

// pageNotFound is the answer to a path where only a custom kind could be: clients know it as plain text.
var pageNotFound = &meta.Status{Code: nethttp.StatusNotFound, Reason: meta.ReasonNotFound, Message: "404 page not found"}

// kindNotFound is the answer to a path that leads to no kind.
func (s *Server) kindNotFound(x *requestContext, err error) error {
	if meta.AsStatus(err).Code != nethttp.StatusNotFound || s.opts.Catalog.IsBuiltInGroup(x.info.Group) {
		return err
	}
	return pageNotFound
}

// customBodyTypes are the media types of the bodies of custom objects.
var customBodyTypes = []string{negotiate.TypeJSON, negotiate.TypeYAML}

// patchTypes are the media types of patches that the kind of the request takes.
func (s *Server) patchTypes(x *requestContext) []string {
	if x.bodyKind.JSONOnly {
		return []string{negotiate.TypeJSONPatch, negotiate.TypeMergePatch, negotiate.TypeApplyPatch}
	}
	return s.names.PatchTypes
}
