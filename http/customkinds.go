package http

import (
	nethttp "net/http"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
)

// Custom kinds have no Protobuf form. Their metadata has.

// negotiateFormat picks the representation of what the path leads to.
func (s *Server) negotiateFormat(x *requestContext, streaming bool) (format, error) {
	const shapes = true
	f, err := s.names.negotiate(x.acceptHeader(), shapes, streaming)
	if err != nil || f.media != mediaProtobuf || f.shape != shapeWhole || !x.bodyKind.JSONOnly {
		return f, err
	}
	var others []string
	for item := range strings.SplitSeq(string(x.acceptHeader()), ",") {
		if c, _, ok := s.names.parseAcceptItem(item, shapes); !ok || c.media != mediaProtobuf || c.shape != shapeWhole {
			others = append(others, item)
		}
	}
	if len(others) > 0 {
		return s.names.negotiate([]byte(strings.Join(others, ",")), shapes, streaming)
	}
	x.format = f // which a Status has
	return format{}, s.names.notAcceptableError()
}

// pageNotFound is the answer where only a custom kind could be: users know it as plain text.
var pageNotFound = &meta.Status{Code: nethttp.StatusNotFound, Reason: meta.ReasonNotFound, Message: "404 page not found"}

// kindNotFound is what is said of a path that leads to no kind.
func (s *Server) kindNotFound(x *requestContext, err error) error {
	if meta.AsStatus(err).Code != nethttp.StatusNotFound || s.opts.Catalog.IsBuiltInGroup(x.info.Group) {
		return err
	}
	return pageNotFound
}

// customBodyTypes are the media types of the bodies of custom objects.
var customBodyTypes = []string{typeJSON, typeYAML}

// patchTypes are the media types of the patches of what the path leads to.
func (s *Server) patchTypes(x *requestContext) []string {
	if x.bodyKind.JSONOnly {
		return []string{typeJSONPatch, typeMergePatch, typeApplyPatch}
	}
	return s.names.patches
}
