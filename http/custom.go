package http

import (
	nethttp "net/http"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
)

// Custom kinds have no Protobuf form. Their metadata has.

// negotiateKind picks the representation of what the path leads to.
func (s *Server) negotiateKind(x *exchange, streaming bool) (format, error) {
	const shapes = true
	f, err := s.names.negotiate(x.accept(), shapes, streaming)
	if err != nil || f.media != mediaProtobuf || f.shape != shapeWhole || !x.speaks.Custom() {
		return f, err
	}
	var others []string
	for item := range strings.SplitSeq(string(x.accept()), ",") {
		if c, _, ok := s.names.clause(item, shapes); !ok || c.media != mediaProtobuf || c.shape != shapeWhole {
			others = append(others, item)
		}
	}
	if len(others) > 0 {
		return s.names.negotiate([]byte(strings.Join(others, ",")), shapes, streaming)
	}
	x.format = f // which a Status has
	return format{}, s.names.notAcceptableFault()
}

// noPage is the answer where only a custom kind could be: users know it as plain text.
var noPage = &meta.Status{Code: nethttp.StatusNotFound, Reason: meta.ReasonNotFound, Message: "404 page not found"}

// missing is what is said of a path that leads to no kind.
func (s *Server) missing(x *exchange, err error) error {
	if meta.AsStatus(err).Code != nethttp.StatusNotFound || s.opts.Catalog.BuiltIn(x.info.Group) {
		return err
	}
	return noPage
}

// bodies are the media types of the bodies of custom objects.
var bodies = []string{typeJSON, typeYAML}

// patchesOf are the media types of the patches of what the path leads to.
func (s *Server) patchesOf(x *exchange) []string {
	if x.speaks.Custom() {
		return []string{typeJSONPatch, typeMergePatch, typeApplyPatch}
	}
	return s.names.patches
}
